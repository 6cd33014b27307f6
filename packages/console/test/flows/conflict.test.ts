import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, lookAgain, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
/** The 409 of a conflict, and the 404 of a deleted prompt, are in the browser's log. */
const allow = /status of (409|404).*\/documents\/|ERR_FAILED/

/** Ana's browser with unsaved text on a prompt that Leo has changed meanwhile. */
async function conflicted(mine: string, theirs: string, prepare?: (page: Page) => Promise<unknown>) {
  const server = await sharedServer({ hello: 'One\nTwo\nThree' })
  const draft = await newDraft(server)
  const { page, context } = await browser.open(server, server.promptAddress('hello', draft), { allow })
  const editor = editorOf(page)
  await editor.ready()
  const stored = async () => (await storedPrompt(server, 'hello', draft)).content
  await editor.toEnd()
  // Leo saves between Ana's key and her save.
  await page.route(
    '**/create-or-update',
    async (route) => {
      const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
      await writePrompt(server, 'hello', { version: draft, prompt: theirs, key })
      await route.continue()
    },
    { times: 1 },
  )
  await prepare?.(page)
  await editor.type(mine)
  return { server, draft, page, context, editor, stored }
}

test('the lines of both are shown, settings wait, and nothing is overwritten until the user takes a text or brings it back', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'Zero\nOne\nTwo\nThree theirs')
  await editor.becomes('Conflict')
  expect(await stored()).toBe('Zero\nOne\nTwo\nThree theirs')
  // Leo's edits in other lines need no choice.
  const typed = page.getByRole('textbox', { name: 'Just typed' })
  await expect.poll(() => typed.locator('.cm-line').allTextContents()).toEqual(['Zero', 'One', 'Two', 'Three mine'])
  expect(await page.getByRole('textbox', { name: 'Leo, in this draft' }).textContent()).toContain('Three theirs')
  expect(await page.getByLabel('Provider').isDisabled()).toBe(true)
  expect(await page.getByLabel('Model').isEditable()).toBe(false)
  await page.getByRole('button', { name: 'Use Leo’s text' }).click()
  await editor.becomes(/^Saved/)
  await expect.poll(() => editor.lines()).toEqual(['Zero', 'One', 'Two', 'Three theirs'])
  await expect.poll(() => page.getByLabel('Provider').isDisabled()).toBe(false)
  expect(await stored()).toBe('Zero\nOne\nTwo\nThree theirs')
  await page.getByRole('button', { name: 'Bring it back' }).click()
  await expect.poll(stored).toBe('Zero\nOne\nTwo\nThree mine')
})

test('one key keeps what was typed, the other text can be brought back, and undo returns to what was typed', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'Other')
  await page.getByRole('textbox', { name: 'Just typed' }).waitFor()
  await page.keyboard.press('F9')
  await editor.becomes(/^Saved/)
  await expect.poll(stored).toBe('One\nTwo\nThree mine')
  await page.getByRole('button', { name: 'Bring it back' }).click()
  await expect.poll(stored).toBe('Other')
  await editor.content.focus()
  await page.keyboard.press('Control+z')
  await expect.poll(stored).toBe('One\nTwo\nThree mine')
})

test('a merged text takes a part of the other one and new words, and survives a reload', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'One\nTwo\nThree theirs')
  const typed = page.getByRole('textbox', { name: 'Just typed' })
  await typed.waitFor()
  await page.getByRole('button', { name: 'Take this part' }).first().click()
  await typed.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' and more')
  await page.reload()
  await page.getByRole('button', { name: 'Restore' }).click()
  await typed.waitFor()
  await page.getByText('Leo changed the same lines').waitFor()
  await page.getByRole('button', { name: 'Keep my text' }).click()
  await expect.poll(stored).toBe('One\nTwo\nThree theirs and more')
  await editor.becomes(/^Saved/)
})

test('a colleague and a second tab edit other lines at the same time: nothing is asked, and each keeps typing at its place', async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `Line ${at}`)
  const server = await sharedServer({ hello: lines.join('\n') })
  const draft = await newDraft(server)
  const address = server.promptAddress('hello', draft)
  const ana = await browser.open(server, address)
  const second = await browser.openTab(ana.context, address)
  const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  const leo = await browser.open(server, address, { key })
  const pages = [ana.page, second, leo.page]
  for (const [at, page] of pages.entries()) {
    const editor = editorOf(page)
    await editor.ready()
    await page.bringToFront()
    await editor.content
      .locator('.cm-line')
      .nth(at * 10)
      .click()
    await page.keyboard.press('End')
  }
  for (const word of [' one', ' two', ' three']) {
    for (const page of pages) {
      await page.bringToFront()
      await page.keyboard.type(word)
    }
  }
  const expected = lines.map((line, at) => (at % 10 === 0 ? `${line} one two three` : line))
  await expect.poll(async () => (await storedPrompt(server, 'hello', draft)).content).toBe(expected.join('\n'))
  for (const page of pages) {
    await page.bringToFront()
    await lookAgain(page)
    await expect.poll(() => editorOf(page).lines()).toEqual(expected)
    await editorOf(page).becomes(/^Saved/)
  }
  // The undo of one tab takes back only what was typed in it.
  await second.bringToFront()
  await second.keyboard.press('Control+z')
  const undone = async () => (await storedPrompt(server, 'hello', draft)).content.split('\n')
  await expect.poll(async () => (await undone())[10]).not.toBe(expected[10])
  expect((await undone()).filter((_, at) => at !== 10)).toEqual(expected.filter((_, at) => at !== 10))
})

test('keys that are pressed while the conflict appears go into the text', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { page, editor, stored } = await conflicted(' mine', 'Other', (page) =>
    page.route('**/unsaved-conflict-*.js', async (route) => {
      await held
      await route.continue()
    }),
  )
  await editor.becomes('Conflict')
  // `?` and `n` are keys of the page.
  await editor.type(' now?')
  release()
  await expect.poll(() => editor.content.count()).toBe(0)
  await editor.type(' on')
  await page.keyboard.press('F9')
  await editor.becomes(/^Saved/)
  await editor.type('!')
  await expect.poll(stored).toBe('One\nTwo\nThree mine now? on!')
  expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(0)
})

test('a prompt that a colleague deletes while one types keeps its editor, and can be kept or left deleted', async () => {
  const { server, draft, page, editor, stored } = await conflicted('!', 'One\nTwo\nThree!')
  // The same text from both is no conflict.
  await editor.becomes(/^Saved/)
  expect(await stored()).toBe('One\nTwo\nThree!')
  const deleteIt = () => server.api('DELETE', `/projects/${server.project.id}/versions/${draft}/documents/hello`)
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.type(' kept')
  await editor.becomes(/^Not saved/)
  await deleteIt()
  await page.locator('[role="treeitem"][data-key="hello"]').getByText('deleted').waitFor({ state: 'attached' })
  expect(await editor.lines()).toEqual(['One', 'Two', 'Three! kept'])
  await page.unroute('**/create-or-update')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await page.getByRole('button', { name: 'Keep the prompt' }).click()
  await expect.poll(stored).toBe('One\nTwo\nThree! kept')
  await editor.becomes(/^Saved/)

  await deleteIt()
  await editor.toEnd()
  await editor.type(' gone')
  await page.getByRole('button', { name: 'Leave it deleted' }).click()
  await page.waitForURL(/\/prompts$/)
  await page.getByText('Choose a prompt').waitFor()
})
