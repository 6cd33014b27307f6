import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer, signInLink } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let publisher: string
const allow = /status of 401/

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello {{ name }}' })
  publisher = await server.newKey(['read', 'run', 'write', 'publish'], { name: 'Ana', email: 'ana@example.com' })
})
afterAll(() => server.close())

test('a link says who it signs in, works after a click, and only once', async () => {
  const link = await signInLink(server, publisher)
  const { page, context } = await browser.open(server, link, { key: null, allow })
  await page.getByRole('heading', { name: 'Sign in to workspace default as Ana (publisher)?' }).waitFor()
  // Opening a link, as a mail scanner does, uses nothing up.
  await page.reload()
  await page.getByRole('button', { name: 'Sign in as Ana' }).click()
  await page.waitForURL(server.address(`/p/${server.project.id}/v/live/prompts`))
  await page.getByTitle('Ana, default').waitFor()

  const again = await browser.openTab(context, link)
  await again.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  expect(again.url()).not.toContain('#')
  await again.getByLabel('API key').waitFor()
})

test('a refused link and a refused key show the code of the refusal, and its request id can be copied', async () => {
  const link = await signInLink(server, publisher)
  const used = await browser.open(server, link, { key: null })
  await used.page.getByRole('button', { name: 'Sign in as Ana' }).click()
  await used.page.getByTitle('Ana, default').waitFor()

  const { page } = await browser.open(server, '/sign-in', { key: null, allow })
  const field = page.getByLabel('API key')
  const copies = async (requestId: string | undefined) => {
    expect(requestId).toBeTruthy()
    await page.getByText('UnauthorizedError').waitFor()
    await page.getByRole('button', { name: 'Copy request id' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    // The policy of the page forbids reading the clipboard, so the test pastes it.
    await field.fill('')
    await page.keyboard.press('Control+V')
    expect(await field.inputValue()).toBe(requestId)
  }
  const refusal = () => page.waitForResponse((response) => response.status() === 401)
  const ofLink = refusal()
  await page.goto(link)
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  await copies((await ofLink).headers()['x-request-id'])
  await page.goto(server.address('/sign-in'))
  const ofKey = refusal()
  await field.fill('stet_wrong')
  await page.keyboard.press('Enter')
  await page.getByText('This sign-in link or API key is not valid').waitFor()
  await copies((await ofKey).headers()['x-request-id'])
})

test('a session that the server refuses to read shows the code and the request id', async () => {
  const { page } = await browser.open(server, '/sign-in', { key: publisher, allow: /status of 503/ })
  const body = {
    name: 'ServiceUnavailableError',
    errorCode: 'ServiceUnavailableError',
    message: 'No database',
    details: {},
  }
  const refused = { status: 503, headers: { 'x-request-id': 'request-1' }, json: body }
  await page.route('**/console/session', (route) => route.fulfill(refused), { times: 1 })
  await page.goto(server.promptAddress('hello'))
  const failure = page.getByRole('alert').filter({ hasText: 'The console could not be opened. No database' })
  await failure.getByText('ServiceUnavailableError').waitFor()
  await failure.getByRole('button', { name: 'Copy request id' }).waitFor()
  await failure.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'hello' }).waitFor()
})

test('the code is in no request address, and not in the history of the browser', async () => {
  const link = await signInLink(server, publisher)
  const code = new URL(link).hash.slice(1)
  const { page, context } = await browser.open(server, '/sign-in', { key: null, allow })
  const addresses: string[] = []
  context.on('request', (request) => addresses.push(request.url(), request.headers()['referer'] ?? ''))
  // The page is open already, so only the fragment of its address changes.
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in as Ana' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(server.address(`/p/${server.project.id}/v/live/prompts`))
  expect(addresses.filter((address) => !address.includes('#') && address.includes(code))).toEqual([])
  await page.goBack()
  await expect.poll(() => page.url()).not.toContain(code)
})

test('a link names the session that it replaces, and leads to its page', async () => {
  const { page } = await browser.open(server, '/sign-in', { key: null, allow })
  await page.getByLabel('API key').fill(publisher)
  await page.keyboard.press('Enter')
  await page.getByTitle('Ana, default').waitFor()
  const editor = await server.newKey(['read', 'write', 'run'], { name: 'Leo', email: 'leo@example.com' })
  const link = new URL(await signInLink(server, editor))
  link.search = `?to=/p/${server.project.id}/history`
  await page.goto(link.href)
  await page.getByRole('heading', { name: 'as Leo (editor)?' }).waitFor()
  await page.getByText('You are signed in as Ana').waitFor()
  await page.getByRole('button', { name: 'Sign in as Leo' }).click()
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await page.getByTitle('Leo, default').waitFor()
})
