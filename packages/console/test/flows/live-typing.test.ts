import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()

async function openedLive(allow?: RegExp) {
  const server = await sharedServer({ 'support/reply': 'Hello' })
  const { page } = await browser.open(server, server.promptAddress('support/reply'), allow ? { allow } : {})
  const editor = editorOf(page)
  await editor.ready()
  await editor.becomes(/^Live/)
  await editor.toEnd()
  const draftOf = () => /\/v\/([0-9a-f-]{36})\/prompts\/support\/reply/.exec(page.url())?.[1]
  return { server, page, editor, draftOf }
}

test('typing on live goes into a new draft, and no character is lost on the way', async () => {
  const { server, editor, draftOf, page } = await openedLive(/status of 40[39]/)
  const words = ' and this sentence is typed while the draft is being made'
  await page.keyboard.type(words, { delay: 15 })
  await expect.poll(draftOf).toBeTruthy()
  // The editor may still say that an earlier part of the text is saved.
  await expect
    .poll(async () => (await storedPrompt(server, 'support/reply', draftOf() ?? '')).content)
    .toBe(`Hello${words}`)
  expect((await storedPrompt(server, 'support/reply', 'live')).content).toBe('Hello')
  // The editor still has the focus, the cursor is at the end, and one undo history covers both addresses.
  await editor.type('!')
  await expect
    .poll(async () => (await storedPrompt(server, 'support/reply', draftOf() ?? '')).content)
    .toBe(`Hello${words}!`)
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await editor.lines())[0]?.length).toBeLessThan(`Hello${words}`.length)

  // A text that the server refused stays in reach when the next text of live moves to its address.
  const json = { name: 'ForbiddenError', errorCode: 'x', message: 'Not now', details: {} }
  await page.route('**/create-or-update', (route) => route.fulfill({ status: 403, json }))
  await editor.type(' refused')
  await editor.becomes(/^Not saved/)
  await page.getByRole('button', { name: /^Version: / }).click()
  await page.getByRole('menuitem', { name: /^Live/ }).click()
  await editor.becomes(/^Live/)
  const left = page.getByText('support/reply is not saved')
  await left.waitFor()
  await page.unroute('**/create-or-update')
  await editor.toEnd()
  await editor.type(' two')
  await page.getByRole('textbox', { name: 'Just typed' }).waitFor()
  expect(await left.count()).toBe(1)
})

test('Tab goes through a live prompt without editing it, and indents after typing', async () => {
  const { server, page, editor, draftOf } = await openedLive()
  const hasFocus = () => editor.content.evaluate((element) => element === document.activeElement)
  await page.keyboard.press('Tab')
  expect(await hasFocus()).toBe(false)
  await page.keyboard.press('Shift+Tab')
  expect(await hasFocus()).toBe(true)
  await page.keyboard.press('Shift+Tab')
  expect(await hasFocus()).toBe(false)
  expect(await editor.lines()).toEqual(['Hello'])
  await editor.becomes(/^Live/)
  await editor.toEnd()
  await editor.type('!')
  await page.keyboard.press('Tab')
  await expect.poll(draftOf).toBeTruthy()
  expect(await hasFocus()).toBe(true)
  await expect.poll(async () => (await storedPrompt(server, 'support/reply', draftOf() ?? '')).content).toBe('  Hello!')
})

test('the next change on live goes into the same draft, and if that has another text, both are kept', async () => {
  const { server, editor, draftOf, page } = await openedLive(/status of 409/)
  await editor.type(' one')
  await expect.poll(draftOf).toBeTruthy()
  const draft = draftOf() ?? ''
  await editor.becomes(/^Saved/)
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'Hello' })
  await page.goto(server.promptAddress('support/reply'))
  await editor.becomes(/^Live/)
  await editor.toEnd()
  await editor.type(' two')
  await expect.poll(draftOf).toBe(draft)
  await expect.poll(async () => (await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello two')
  await page.goto(server.promptAddress('support/reply'))
  await editor.becomes(/^Live/)
  await editor.toEnd()
  await editor.type(' three')
  const mine = page.getByRole('textbox', { name: 'Just typed' })
  await mine.waitFor()
  expect((await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello two')
  expect(await mine.textContent()).toContain('Hello three')
})

test('a draft that is published while one types loses no character, and the text goes into a new draft', async () => {
  const { server, editor, draftOf, page } = await openedLive(/status of 4\d\d/)
  await editor.type(' one')
  await expect.poll(draftOf).toBeTruthy()
  await editor.becomes(/^Saved/)
  const first = draftOf() ?? ''
  await page.route(
    '**/create-or-update',
    async (route) => {
      const at = `/projects/${server.project.id}/versions/${first}/publish`
      await server.api('POST', at, { body: { title: 'Published meanwhile' } })
      await route.continue()
    },
    { times: 1 },
  )
  await page.keyboard.type(' two, three, four and more', { delay: 40 })
  await expect.poll(draftOf).not.toBe(first)
  const text = 'Hello one two, three, four and more'
  await expect.poll(async () => (await storedPrompt(server, 'support/reply', draftOf() ?? '')).content).toBe(text)
  expect((await storedPrompt(server, 'support/reply', 'live')).content).toBe('Hello one')
  expect(await editor.lines()).toEqual([text])
})
