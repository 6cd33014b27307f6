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

test('an address that is emptied is not called changed, and the stored one stays', async () => {
  const stored = async () =>
    (await server.read<{ name: string; url: string }[]>('/provider-api-keys')).find(isOurs)?.url
  const isOurs = ({ name }: { name: string }) => name === 'moved'
  const body = { provider: 'openai', name: 'moved', token: 'sk-moved', url: server.fake.url }
  expect(await server.api('POST', '/provider-api-keys', { body })).toMatchObject({ status: 201 })
  const { page } = await browser.open(server, '/settings/providers')
  await page.getByRole('button', { name: 'Edit moved' }).click()
  const form = page.getByRole('dialog', { name: 'Edit “moved”' })
  const save = form.getByRole('button', { name: 'Save' })
  await form.getByLabel('Address').fill('')
  await expect.poll(() => save.getAttribute('title')).toBe('an address can be changed, but not removed')
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await form.getByLabel('Address').press('Enter')
  await save.click({ force: true })
  // The server asks for the key again before it sends it to another address.
  await form.getByLabel('Key').fill('sk-moved')
  await form.getByLabel('Address').fill(`${server.fake.url}/`)
  await save.click()
  await form.waitFor({ state: 'detached' })
  expect(await page.getByText('moved is changed').count()).toBe(1)
  expect(await stored()).toBe(`${server.fake.url}/`)
})

test('the built-in demo provider can be tested and not deleted', async () => {
  const { page } = await browser.open(server, '/settings/providers')
  const row = page.getByRole('row', { name: /^demo/ })
  await row.getByRole('button', { name: 'Test demo' }).click()
  await row.getByText(/answered in/).waitFor()
  expect(await row.getByRole('button', { name: 'Delete demo' }).count()).toBe(0)
})
