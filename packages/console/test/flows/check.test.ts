/** Compile errors of texts that cannot be saved now: their errors come from a check, not from a save. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const errors = (page: Page) => page.getByRole('region', { name: 'Errors' })

async function opened(prompt: string, allow: RegExp) {
  const server = await sharedServer({ hello: prompt })
  const draft = await newDraft(server)
  const { page } = await browser.open(server, server.promptAddress('hello', draft), { allow })
  const editor = editorOf(page)
  await editor.ready()
  await editor.toEnd()
  return { server, draft, page, editor, stored: async () => (await storedPrompt(server, 'hello', draft)).content }
}

test('in a conflict the errors are those of my text, and a click goes to them', async () => {
  const { server, draft, page, editor, stored } = await opened('One\nTwo', /status of 409/)
  await page.route(
    '**/create-or-update',
    async (route) => {
      await writePrompt(server, 'hello', { version: draft, prompt: 'One\n{{ endif }}Two' })
      await route.continue()
    },
    { times: 1 },
  )
  await editor.type('!')
  const mine = page.getByRole('textbox', { name: 'Just typed' })
  await mine.waitFor()
  await mine.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\n{{ list.map(x => x) }}')
  const issue = errors(page).getByRole('button')
  await issue.filter({ hasText: /^3:9/ }).waitFor()
  // The errors of their text are not shown at places of mine.
  for (const text of await issue.allTextContents()) expect(text).toMatch(/^3:/)
  expect(await mine.locator('.cm-lintRange-error').allTextContents()).toContain('map')
  await page.keyboard.press('Control+Home')
  await issue.filter({ hasText: /^3:9/ }).click()
  await page.keyboard.type('-')
  await expect.poll(() => mine.locator('.cm-line').last().textContent()).toBe('{{ list.-map(x => x) }}')
  // A fixed text has no errors, although nothing is saved.
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.type('Three')
  await errors(page).waitFor({ state: 'detached' })
  expect(await stored()).toBe('One\n{{ endif }}Two')
  await page.keyboard.press('F9')
  await expect.poll(stored).toBe('Three')
})

test('text that the server refuses to save is checked, and only the newest response counts', async () => {
  const { page, editor, stored } = await opened('Hello', /status of 403/)
  await page.route('**/create-or-update', (route) => {
    const json = { name: 'ForbiddenError', message: 'Not today', errorCode: 'ForbiddenError', details: {} }
    return route.fulfill({ status: 403, json })
  })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const checked: string[] = []
  await page.route('**/documents/check', async (route) => {
    const { prompt } = route.request().postDataJSON()
    checked.push(prompt)
    if (checked.length === 1) await held
    await route.continue().catch(() => undefined)
  })
  await editor.type('\n{{ if }}')
  await editor.becomes('Not saved, kept here: Not today')
  await expect.poll(() => checked.length).toBe(1)
  // The first check has no response yet when the text is another one.
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await editor.type('{{ a.map(x => x) }}')
  const issues = () => errors(page).getByRole('button').allTextContents()
  await expect.poll(issues).toContainEqual(expect.stringMatching(/^1:6/))
  expect(checked).toContain('Hello\n{{ if }}')
  release()
  for (const text of await issues()) expect(text).toMatch(/^1:/)
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await editor.type('Goodbye')
  await errors(page).waitFor({ state: 'detached' })
  expect(checked.at(-1)).toBe('Goodbye')
  expect(await stored()).toBe('Hello')
})
