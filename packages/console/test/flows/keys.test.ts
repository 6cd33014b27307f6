import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' })
})
afterAll(() => server.close())

const statusOf = async (key: string) =>
  (await fetch(server.address('/api/v3/me'), { headers: { authorization: `Bearer ${key}` } })).status

test('a key is created, shown once, rotated and revoked', async () => {
  const { page } = await browser.open(server, '/settings/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const form = page.getByRole('dialog', { name: 'New key' })
  await form.getByLabel('Name').fill('website')
  await form.getByLabel('Role').selectOption('Tester')
  await form.getByLabel('Expires').selectOption({ label: 'In 30 days' })
  await form.getByRole('button', { name: 'Create' }).click()

  const secret = page.getByRole('dialog', { name: 'The key “website”' })
  const first = (await secret.getByRole('region', { name: 'the key' }).textContent()) ?? ''
  expect(await statusOf(first)).toBe(200)
  await secret.getByRole('button', { name: 'Copy the key' }).click()
  await secret.getByText('Copied', { exact: true }).waitFor()
  // Escape does not close it: the secret cannot be shown again.
  await page.keyboard.press('Escape')
  await secret.getByRole('button', { name: 'I have copied it' }).click()
  // The policy of the page forbids reading the clipboard, so the test pastes it.
  await page.getByRole('button', { name: 'New key' }).click()
  await form.getByLabel('Name').focus()
  await page.keyboard.press('Control+V')
  expect(await form.getByLabel('Name').inputValue()).toBe(first)
  await page.keyboard.press('Escape')
  const row = page.getByRole('row', { name: /website/ })
  await row.getByText('Tester').waitFor()
  expect(await page.content()).not.toContain(first)

  await row.getByRole('button', { name: 'Rotate website' }).click()
  const rotate = page.getByRole('dialog', { name: 'Rotate “website”' })
  await rotate.getByLabel('The old secret').selectOption({ label: 'stops at once' })
  await rotate.getByRole('button', { name: 'Rotate' }).click()
  const second = (await secret.getByRole('region', { name: 'the key' }).textContent()) ?? ''
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
  await page.getByRole('button', { name: 'I have copied it' }).click()

  await page.getByRole('button', { name: 'Revoke website' }).last().click()
  const question = page.getByRole('alertdialog', { name: 'Revoke “website”?' })
  await question.getByText(/gets 401 from now on/).waitFor()
  await question.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('website is revoked').waitFor()
  expect(await statusOf(second)).toBe(401)
})

test('without admin the page says what it takes, and whom to ask', async () => {
  const key = await server.newKey(['read', 'write'])
  const { page } = await browser.open(server, '/settings/keys', { key })
  await page.getByText('Only admins manage keys.').waitFor()
  await page.getByText('Ask the person who runs this server.').waitFor()
  const author = { name: 'Ana Lima', email: 'ana@example.com' }
  await server.api('POST', '/api-keys', { body: { name: 'ana', scopes: ['admin'], author } })
  await page.reload()
  await page.getByText('These people can make changes: Ana Lima (ana@example.com)').waitFor()
})

test("rotating the session's own key shows the new secret, and the session goes on", async () => {
  const key = await server.newKey(['admin'], { name: 'Ana', email: 'ana.own@example.com' })
  const { page } = await browser.open(server, '/settings/keys', { key, allow: /status of 401/ })
  const row = page.getByRole('row').filter({ hasText: key.slice(0, 9) })
  await row.getByRole('button', { name: /^Rotate/ }).click()
  const rotate = page.getByRole('dialog', { name: /^Rotate/ })
  await rotate.getByLabel('The old secret').selectOption({ label: 'stops at once' })
  await rotate.getByRole('button', { name: 'Rotate' }).click()
  const secret = (await page.getByRole('region', { name: 'the key' }).textContent()) ?? ''
  expect([await statusOf(key), await statusOf(secret)]).toEqual([401, 200])
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'New key' }).waitFor()
})
