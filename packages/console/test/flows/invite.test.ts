import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' })
})
afterAll(() => server.close())

test('an invited person signs in by link in a browser of their own, with their role', async () => {
  const { page } = await browser.open(server, '/settings/people')
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite a person' })
  await form.getByLabel('Name').fill('Ana Lima')
  await form.getByLabel('Email').fill('ana@example.com')
  await form.getByLabel('Role').selectOption('Editor')
  await form.getByRole('button', { name: 'Make a link' }).click()
  const shown = page.getByRole('dialog', { name: 'A sign-in link for Ana Lima' })
  const url = (await shown.getByRole('region', { name: 'the link' }).textContent()) ?? ''
  expect(url).toMatch(/\/sign-in#[\w-]{43}$/)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page
    .getByRole('row', { name: /Ana Lima/ })
    .getByText('Editor')
    .waitFor()

  const ana = await browser.open(server, new URL(url).pathname + new URL(url).hash, {
    key: null,
    allow: /status of 401/,
  })
  await ana.page
    .getByText(/Ana Lima/)
    .first()
    .waitFor()
  await ana.page.getByRole('button', { name: /sign in/i }).click()
  await ana.page.waitForURL((address) => !address.pathname.startsWith('/sign-in'))
  await ana.page.goto(server.address('/settings/about'))
  await ana.page.getByText('Ana Lima (ana@example.com)').waitFor()
  const licenses = await ana.page.getByRole('link', { name: /^Licenses/ }).getAttribute('href')
  expect(await (await fetch(licenses ?? '')).text()).toContain('react-dom')
})

test('a bad address is said at its field and the text stays', async () => {
  const { page } = await browser.open(server, '/settings/people', { allow: /status of 400/ })
  await page.getByRole('button', { name: 'Invite' }).click()
  const form = page.getByRole('dialog', { name: 'Invite a person' })
  await form.getByLabel('Name').fill('Bo')
  await form.getByLabel('Email').fill('not an address')
  await form.getByRole('button', { name: 'Make a link' }).click()
  await form.locator('[aria-invalid="true"]').waitFor()
  expect(await form.getByLabel('Email').inputValue()).toBe('not an address')
})
