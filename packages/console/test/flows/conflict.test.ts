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

test('both texts are shown, settings wait, and nothing is overwritten until the user takes theirs or brings mine back', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'Zero\nOne\nTwo\nThree')
  await editor.becomes('Conflict')
  expect(await stored()).toBe('Zero\nOne\nTwo\nThree')
  await page.getByRole('textbox', { name: /^My text/ }).waitFor()
  expect(await page.getByRole('textbox', { name: 'Their text' }).textContent()).toContain('Zero')
  expect(await page.getByLabel('Provider').isDisabled()).toBe(true)
  expect(await page.getByLabel('Model').isEditable()).toBe(false)
  await page.getByRole('button', { name: 'Take theirs' }).click()
  await editor.becomes(/^Saved/)
  await expect.poll(() => editor.lines()).toEqual(['Zero', 'One', 'Two', 'Three'])
  await expect.poll(() => page.getByLabel('Provider').isDisabled()).toBe(false)
  expect(await stored()).toBe('Zero\nOne\nTwo\nThree')
  await page.getByRole('button', { name: 'Bring mine back' }).click()
  await expect.poll(stored).toBe('One\nTwo\nThree mine')
})

test('one key keeps mine, theirs can be brought back, and undo returns to mine', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'Other')
  await page.getByRole('textbox', { name: /^My text/ }).waitFor()
  await page.keyboard.press('F9')
  await editor.becomes(/^Saved/)
  await expect.poll(stored).toBe('One\nTwo\nThree mine')
  await page.getByRole('button', { name: 'Bring theirs back' }).click()
  await expect.poll(stored).toBe('Other')
  await editor.content.focus()
  await page.keyboard.press('Control+z')
  await expect.poll(stored).toBe('One\nTwo\nThree mine')
})

test('a merged text takes a block of theirs and new words of mine', async () => {
  const { page, editor, stored } = await conflicted(' mine', 'Zero\nOne\nTwo\nThree')
  const mine = page.getByRole('textbox', { name: /^My text/ })
  await mine.waitFor()
  await page.getByRole('button', { name: 'Take this part' }).first().click()
  await mine.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' and more')
  // A reload in the middle of a conflict keeps what is merged so far.
  await page.reload()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect
    .poll(async () => (await stored()) === 'Zero\nOne\nTwo\nThree mine and more' || (await editor.status.textContent()))
    .not.toBe('Saving')
  if ((await editor.status.textContent()) === 'Conflict') await page.getByRole('button', { name: 'Keep mine' }).click()
  await expect.poll(stored).toBe('Zero\nOne\nTwo\nThree mine and more')
})

test('two browsers that type in turns lose nothing', async () => {
  const server = await sharedServer({ hello: 'Start' })
  const draft = await newDraft(server)
  const address = server.promptAddress('hello', draft)
  const ana = await browser.open(server, address, { allow })
  const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  const leo = await browser.open(server, address, { allow, key })
  const editors = [editorOf(ana.page), editorOf(leo.page)] as const
  for (const editor of editors) await editor.ready()
  let expected = 'Start'
  for (const [round, word] of [' one', ' two', ' three', ' four'].entries()) {
    const editor = editors[round % 2 === 0 ? 0 : 1]
    // The other's text is there before this one types.
    await lookAgain(round % 2 === 0 ? ana.page : leo.page)
    await expect.poll(async () => (await editor.lines()).join('\n')).toBe(expected)
    await editor.toEnd()
    await editor.type(word)
    expected += word
    await expect.poll(async () => (await storedPrompt(server, 'hello', draft)).content).toBe(expected)
  }
})

test('keys that are pressed while the conflict appears go into the text', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { page, editor, stored } = await conflicted(' mine', 'Other', (page) =>
    page.route('**/conflict-*.js', async (route) => {
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
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await expect.poll(stored).toBe('One\nTwo\nThree! kept')
  await editor.becomes(/^Saved/)

  await deleteIt()
  await editor.toEnd()
  await editor.type(' gone')
  await page.getByRole('button', { name: 'Leave it deleted' }).click()
  await page.waitForURL(/\/prompts$/)
  await page.getByText('Choose a prompt').waitFor()
})
