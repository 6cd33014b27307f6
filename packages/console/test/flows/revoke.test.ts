import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
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
