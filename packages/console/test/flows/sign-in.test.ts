import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser, rarely } from '../support/browser.ts'
import { editorOf, newDraft } from '../support/editor-page.ts'
import { consoleServer, type OwnServer, sharedServer, signInLink } from '../support/server.ts'

const browser = consoleBrowser()
let server: OwnServer
let history: string
let publisher: string
/** Chromium reports every 401 as an error of the console. */
const allow = /status of 401/

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello {{ name }}' })
  publisher = await server.newKey(['read', 'run', 'write', 'publish'], { name: 'Ana', email: 'ana@example.com' })
  history = `/p/${server.project.id}/history`
})
afterAll(() => server.close())

test('an API key signs in and leads back to the page that was asked for', async () => {
  const { page } = await browser.open(server, history, { key: null, allow })
  await page.waitForURL(/\/sign-in\?to=/)
  await page.getByLabel('API key').fill('stet_wrong')
  await page.keyboard.press('Enter')
  await page.getByText('This sign-in link or API key is not valid').waitFor()
  await page.getByLabel('API key').fill(server.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(history)
})

test('when the session ends, a sheet covers the screen, and after signing in the work continues', async () => {
  const { page, context } = await browser.open(server, history, { allow: /status of 401|ERR_FAILED/ })
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await context.clearCookies()
  await page.getByRole('link', { name: 'Prompts' }).click()
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  await sheet.waitFor()
  await page.keyboard.press('Escape')
  await sheet.getByLabel('API key').fill(server.key)
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe(`/p/${server.project.id}/v/live/prompts`)
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()

  // An outage is over when the server answers again, also without the session.
  const requests = /api\/v3|console\/session/
  await page.route(requests, (route) => route.abort())
  const line = page.getByText('The server is not responding. Showing the last data loaded.')
  await line.waitFor()
  await context.clearCookies()
  await page.unroute(requests)
  await sheet.waitFor()
  await line.waitFor({ state: 'detached' })
})

test('the console opens the draft that was open last, live once it is published, and its one prompt', async () => {
  const draft = await newDraft(server)
  const hello = (version: string) => server.promptAddress('hello', version)
  const { page } = await browser.open(server, server.promptAddress('hello', draft))
  await editorOf(page).ready()
  await page.goto(server.address('/'))
  await page.waitForURL(hello(draft))
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await page.getByRole('link', { name: 'Prompts' }).click()
  await page.waitForURL(hello(draft).replace(/\/hello$/, ''))
  expect(await server.api('POST', `/projects/${server.project.id}/versions/${draft}/publish`)).toMatchObject({
    status: 200,
  })
  await page.goto(server.address('/'))
  await page.waitForURL(hello('live'))
})

test('the first page is the project with one’s own newest draft, not that of the person before in this browser', async () => {
  const person = { name: 'Leo', email: 'leo@example.com' }
  const leo = await server.newKey(['read', 'write'], person)
  type Created = { project: { id: number }; version: { uuid: string } }
  const { body } = await server.api<Created>('POST', '/projects', { body: { name: 'Second' } })
  const { project, version } = body
  const { page, context } = await browser.open(server, server.promptAddress('hello'))
  await editorOf(page).ready()
  const signInAs = async (apiKey: string) => {
    // An open page loads again when it sees another session, which would end the next `goto`.
    await page.goto(server.address('/health'))
    await context.request.post(server.address('/console/session'), {
      data: { apiKey },
      headers: { 'X-Stet-Console': '1' },
    })
  }
  await signInAs(leo)
  const made = await context.request.post(server.address(`/api/v3/projects/${project.id}/versions`), {
    data: { name: 'Leo’s draft' },
    headers: { 'X-Stet-Console': '1' },
  })
  const { uuid } = (await made.json()) as { uuid: string }
  expect(uuid).not.toBe(version.uuid)
  for (const path of ['a', 'b'])
    await context.request.post(
      server.address(`/api/v3/projects/${project.id}/versions/${uuid}/documents/create-or-update`),
      {
        data: { path, prompt: 'Text' },
        headers: { 'X-Stet-Console': '1' },
      },
    )
  await page.goto(server.address('/'))
  const block = (name: string) => page.getByRole('region', { name })
  await block('My drafts').getByRole('link', { name: 'Leo’s draft' }).waitFor()
  await block('Recent').getByText('Nothing was opened in this browser yet.').waitFor()
  await page.getByRole('link', { name: 'Prompts', exact: true }).click()
  await page.waitForURL(server.address(`/p/${project.id}/v/${uuid}/prompts`))
  await signInAs(server.key)
  await page.goto(server.address('/'))
  await page.waitForURL(server.promptAddress('hello'))
})

test('on a phone, a second person finds the draft that waits for them, and reads its change', async () => {
  const own = await sharedServer({ hello: 'Say hello.' })
  const draft = await own.project.newDraft()
  const changes = [{ path: 'hello', status: 'modified', content: 'Say hello warmly.' }]
  await own.api('POST', `${draft}/push`, { body: { changes } })
  const key = await own.newKey(['read', 'run', 'write', 'publish'], { name: 'Mia', email: 'mia@example.com' })
  const { page } = await browser.open(own, own.promptAddress('hello'), { key, width: 360, height: 740 })
  await page.getByRole('heading', { level: 1, name: 'hello' }).waitFor()
  await page.goto(own.address('/'))
  await page
    .getByRole('region', { name: /^Waiting for me/ })
    .getByRole('link')
    .first()
    .click()
  const change = page.getByRole('textbox', { name: 'hello, changed' })
  await expect.poll(() => change.textContent()).toContain('Say hello warmly.')
  expect(await page.locator('.cm-changedText').allTextContents()).toEqual([' warmly'])
  // Without the brand in the rail, the menu of projects leads home again.
  await page.getByRole('button', { name: /^Project:/ }).click()
  await page.getByRole('menuitem', { name: 'Home' }).click()
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
})

rarely('the sign-in page says that the browser did not keep the cookie', async () => {
  const { page, context } = await browser.open(server, '/sign-in', { key: null, allow })
  await page.route('**/console/session', async (route) => {
    if (route.request().method() === 'GET') await context.clearCookies()
    await route.continue()
  })
  await page.getByLabel('API key').fill(server.key)
  await page.keyboard.press('Enter')
  await page.getByText('Your browser did not keep the session cookie').waitFor()
})

test('signing out asks first if a prompt could not be saved, also one that is no longer shown', async () => {
  const { page } = await browser.open(server, server.promptAddress('hello', await newDraft(server)), {
    allow: /status of 401|ERR_FAILED/,
  })
  const editor = editorOf(page)
  await editor.ready()
  await editor.toEnd()
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.type(' unsaved')
  await editor.becomes(/^Not saved/)
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('hello is not saved').waitFor()
  await page.getByTitle(/, default$/).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  const question = page.getByRole('alertdialog', { name: 'Sign out?' })
  await question.getByText('1 prompt is not saved').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Open', exact: true }).click()
  await expect.poll(() => editor.lines()).toEqual(['Hello {{ name }} unsaved'])

  await page.getByTitle(/, default$/).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await question.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  const kept = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('stet.unsaved.')))
  expect(kept).toEqual([])
  await page.goto(server.address(history))
  await page.waitForURL(/\/sign-in\?to=/)
})

test('keys lead to screens, are listed, do nothing in fields, and can be turned off', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`, { allow })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  const data = Promise.withResolvers<void>()
  await page.route('**/releases?**', async (route) => {
    await data.promise
    await route.continue()
  })
  await page.keyboard.press('g')
  await page.keyboard.press('h')
  // While the data of a screen is loading, the frame stays.
  await page.getByRole('status', { name: 'Loading' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Places' }).isVisible()).toBe(true)
  data.resolve()
  const title = page.getByRole('heading', { level: 1, name: 'History' })
  await title.waitFor()
  await expect.poll(() => title.evaluate((element) => element.matches(':focus'))).toBe(true)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).fill('hel')
  await page.keyboard.press('Enter')
  await page.waitForURL(server.promptAddress('hello'))
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await keys.getByText('Go to history').waitFor()
  await keys.getByLabel('Single-letter shortcuts').uncheck()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).waitFor()
  expect(await keys.count()).toBe(0)
})

test('a link says who it signs in, works after a click, and only once', async () => {
  const link = await signInLink(server, publisher)
  const { page, context } = await browser.open(server, link, { key: null, allow })
  await page.getByRole('heading', { name: 'Sign in to workspace default as Ana (publisher)?' }).waitFor()
  // Opening a link, as a mail scanner does, uses nothing up.
  await page.reload()
  await page.getByRole('button', { name: 'Sign in as Ana' }).click()
  await page.waitForURL(server.promptAddress('hello'))
  await page.getByTitle('Ana, default').waitFor()

  const again = await browser.openTab(context, link)
  await again.getByRole('heading', { name: 'This link no longer works' }).waitFor()
  expect(again.url()).not.toContain('#')
  await again.getByLabel('API key').waitFor()
})

rarely(
  'a refused link and a refused key have the code of the refusal behind Details, and its request id can be copied',
  async () => {
    const { page } = await browser.open(server, '/sign-in', { key: null, allow })
    const field = page.getByLabel('API key')
    const copies = async (requestId: string | undefined) => {
      expect(requestId).toBeTruthy()
      await page.getByText('Details', { exact: true }).click()
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
    await page.goto(server.address(`/sign-in#${'A'.repeat(43)}`))
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    await copies((await ofLink).headers()['x-request-id'])
    await page.goto(server.address('/sign-in'))
    const ofKey = refusal()
    await field.fill('stet_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This sign-in link or API key is not valid').waitFor()
    await copies((await ofKey).headers()['x-request-id'])
  },
)

rarely('a session that the server refuses to read shows the code and the request id', async () => {
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
  await failure.getByText('Details').click()
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
  await page.waitForURL(server.promptAddress('hello'))
  expect(addresses.filter((address) => !address.includes('#') && address.includes(code))).toEqual([])
  await page.goBack()
  await expect.poll(() => page.url()).not.toContain(code)
})

// Signing in ends the session before it: server, `http/sessions`.
rarely('a link names the session that it replaces, and leads to its page', async () => {
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
