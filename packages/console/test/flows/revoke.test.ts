import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft } from '../support/editor-page.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' })
})
afterAll(() => server.close())

test('revoking a key shows the sign-in sheet in its other browser, and its screen stays', async () => {
  const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  const leo = await browser.open(server, `/p/${server.project.id}/history`, { key, allow: /status of 401/ })
  await leo.page.getByRole('heading', { name: 'History' }).waitFor()

  const admin = await browser.open(server, '/settings/keys')
  const row = admin.page.getByRole('row', { name: /Leo/ })
  await row.getByRole('button', { name: /^Revoke/ }).click()
  await admin.page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await admin.page.getByText(/is revoked/).waitFor()

  // The next call, at the latest the next poll of a list, is refused.
  const sheet = leo.page.getByRole('dialog')
  await sheet.waitFor()
  expect(await leo.page.getByRole('heading', { name: 'History', includeHidden: true }).count()).toBe(1)
})

test('sessions of other browsers are listed and ended', async () => {
  const one = await browser.open(server, '/settings/sessions')
  const two = await browser.open(server, `/p/${server.project.id}/history`, { allow: /status of 401/ })
  await two.page.getByRole('heading', { name: 'History' }).waitFor()
  await one.page.reload()
  await one.page.getByText('this browser').waitFor()
  await one.page.getByRole('button', { name: 'End all others' }).click()
  await one.page.getByText(/sessions? ended/).waitFor()
  await two.page.getByRole('dialog').waitFor()
  await expect.poll(() => one.page.getByRole('row').count()).toBe(2)
})

test('text that a key may no longer save is still called unsaved', async () => {
  const author = { name: 'Mia', email: 'mia@example.com' }
  const [writer, reader] = [await server.newKey(['read', 'write'], author), await server.newKey(['read'], author)]
  const { page, context } = await browser.open(server, server.promptAddress('hello', await newDraft(server)), {
    key: writer,
    allow: /status of 401|ERR_FAILED/,
  })
  const editor = editorOf(page)
  await editor.ready()
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.toEnd()
  await editor.type(' unsaved')
  await editor.becomes(/^Not saved, kept here/)
  await context.clearCookies()
  await page.getByRole('link', { name: 'History' }).click()
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  await sheet.getByLabel('API key').fill(reader)
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'detached' })
  await page.goBack()
  await editor.becomes(/^Not saved, kept here/)
})
