import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' }, { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(() => server.close())

test('a provider is added and tested before its first use', async () => {
  const { page } = await browser.open(server, '/settings/providers')
  await page.getByRole('button', { name: 'Add a provider' }).click()
  const form = page.getByRole('dialog', { name: 'Add a provider' })
  await form.getByLabel('Type').selectOption('custom')
  await form.getByLabel('Name').fill('local')
  await form.getByLabel('Key').fill('sk-not-to-be-shown')
  await form.getByLabel('Address').fill(server.fake.url)
  await form.getByLabel('Default model').fill('tiny')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  const row = page.getByRole('row', { name: /^local/ })
  await row.waitFor()
  expect(await page.content()).not.toContain('sk-not-to-be-shown')

  await row.getByRole('button', { name: 'Test local' }).click()
  await row.getByText(/tiny answered in/).waitFor()

  server.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided: no such key' } } })
  await row.getByRole('button', { name: 'Test local' }).click()
  await row.getByText(/Incorrect API key provided/).waitFor()
})

test('the built-in demo provider can be tested and not deleted', async () => {
  const { page } = await browser.open(server, '/settings/providers')
  const row = page.getByRole('row', { name: /^demo/ })
  await row.getByRole('button', { name: 'Test demo' }).click()
  await row.getByText(/answered in/).waitFor()
  expect(await row.getByRole('button', { name: 'Delete demo' }).count()).toBe(0)
})
