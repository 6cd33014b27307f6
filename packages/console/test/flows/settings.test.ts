/** Keys, people, sessions and providers. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser, rarely } from '../support/browser.ts'
import { editorOf, newDraft } from '../support/editor-page.ts'
import { consoleServer, type OwnServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: OwnServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' }, { STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(() => server.close())

const statusOf = async (key: string) =>
  (await fetch(server.address('/api/v3/me'), { headers: { authorization: `Bearer ${key}` } })).status

test('a key is created, shown once, rotated and revoked', async () => {
  const { page } = await browser.open(server, '/settings/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const form = page.getByRole('dialog', { name: 'New key' })
  await form.getByLabel('Name').fill('website')
  // A key for an application can only run prompts, of one project, for 90 days.
  const { id } = server.project
  expect(await form.getByLabel('Project').inputValue()).toBe(String(id))
  expect(await form.getByLabel('Expires').inputValue()).toBe('90')
  await form.getByLabel('For').selectOption('A person')
  expect(await form.getByLabel('Project').inputValue()).toBe('')
  await form.getByLabel('For').selectOption('Custom')
  expect(await form.getByRole('checkbox').count()).toBe(5)
  await form.getByLabel('For').selectOption('CI')
  await form.getByText('read, write, publish').waitFor()
  expect(await form.getByLabel('Plan').getByRole('option').allTextContents()).toEqual(
    [10, 166, 500].map((count) => `${count} requests per second`),
  )
  await form.getByLabel('For').selectOption('An application that runs prompts')
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
  await row.getByText(`project ${id}`).waitFor()
  const { scopes, projectId } = (
    await server.read<{ name: string; scopes: string[]; projectId: number }[]>('/api-keys')
  ).filter(({ name }) => name === 'website')[0] ?? { scopes: [], projectId: null }
  expect({ scopes, projectId }).toEqual({ scopes: ['run'], projectId: id })
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

  // Until the projects have loaded, a key for one project cannot become a key for all of them.
  const held = Promise.withResolvers<void>()
  await page.route(/\/projects(\?|$)/, async (route) => {
    await held.promise
    await route.continue()
  })
  await page.reload()
  await page.getByRole('button', { name: 'New key' }).click()
  await form.getByLabel('Name').fill('early')
  await form.getByRole('button', { name: 'Create (wait for the list of projects)' }).waitFor()
  held.resolve()
  await form.getByRole('button', { name: 'Create', exact: true }).waitFor()
  expect(await form.getByLabel('Project').inputValue()).toBe(String(id))
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

rarely("rotating the session's own key shows the new secret, and the session goes on", async () => {
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

test('a provider is added and tested before its first use', async () => {
  const { page } = await browser.open(server, '/settings/providers')
  await page.getByRole('button', { name: 'Add a provider' }).click()
  const form = page.getByRole('dialog', { name: 'Add a provider' })
  await form.getByLabel('Provider').selectOption('custom')
  await form.getByLabel('Name').fill('local')
  await form.getByLabel('Key').fill('sk-not-to-be-shown')
  await form.getByLabel('Address').fill(server.fake.url)
  await form.getByLabel('Default model').fill('tiny')
  await form.getByRole('button', { name: 'Add', exact: true }).click()
  const row = page.getByRole('row', { name: /^local/ })
  await row.waitFor()
  expect(await page.content()).not.toContain('sk-not-to-be-shown')

  await row.getByRole('button', { name: 'Test local' }).click()
  const dialog = page.getByRole('dialog', { name: 'Test “local”' })
  await page.keyboard.press('Enter')
  await dialog.getByText(/tiny answered in/).waitFor()

  server.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided: no such key' } } })
  await page.keyboard.press('Enter')
  await dialog.getByText(/Incorrect API key provided/).waitFor()
})

rarely('an address that is emptied is not called changed, and the stored one stays', async () => {
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

rarely('the built-in demo provider can be tested and not deleted', async () => {
  const { page } = await browser.open(server, '/settings/providers')
  const row = page.getByRole('row', { name: /^demo/ })
  await row.getByText('not since the server started').waitFor()
  await row.getByRole('button', { name: 'Test demo' }).click()
  // A provider of the environment may have no default model, so the model can be named.
  const dialog = page.getByRole('dialog', { name: 'Test “demo”' })
  await dialog.getByLabel('Model').fill('another')
  await page.keyboard.press('Enter')
  await dialog.getByText(/^another answered in/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await row.getByText(/\d\d:\d\d/).waitFor()
  expect(await row.getByRole('button', { name: 'Delete demo' }).count()).toBe(0)
})

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

test('one’s own other sessions are ended, or everyone’s, after a question that counts them', async () => {
  const signIn = async (apiKey: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Stet-Console': '1' }
    const options = { method: 'POST', headers, body: JSON.stringify({ apiKey }) }
    expect((await fetch(server.address('/console/session'), options)).status).toBe(201)
  }
  const key = await server.newKey(['admin'], { name: 'Ida', email: 'ida@example.com' })
  await signIn(key)
  await signIn(key)
  await signIn(await server.newKey(['read'], { name: 'Leo', email: 'leo@example.com' }))
  const { page } = await browser.open(server, '/settings/sessions', { key })
  await page.getByText('this browser').waitFor()
  const rowsOf = (name: string) => page.getByRole('row').filter({ hasText: name }).count()
  const question = page.getByRole('alertdialog')

  await page.getByRole('button', { name: 'End my other sessions' }).click()
  await question.getByText('2 sessions of Ida will end at once.').waitFor()
  await question.getByRole('button', { name: 'End 2 sessions' }).click()
  await expect.poll(() => rowsOf('Ida')).toBe(1)
  expect(await rowsOf('Leo')).toBeGreaterThan(0)

  await page.getByRole('button', { name: 'End everyone’s sessions' }).click()
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await rowsOf('Leo')).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'End everyone’s sessions' }).click()
  await question.getByText(/Leo.* will end at once\. This browser stays signed in\./).waitFor()
  await question.getByRole('button', { name: /^End \d+ sessions?$/ }).click()
  // Its own session and the head of the table.
  await expect.poll(() => page.getByRole('row').count()).toBe(2)
})

test('text that a key may no longer save is still called unsaved', async () => {
  const author = { name: 'Mia', email: 'mia@example.com' }
  const [writer, reader] = [await server.newKey(['read', 'write'], author), await server.newKey(['read'], author)]
  const { page, context } = await browser.open(server, server.promptAddress('hello', await newDraft(server)), {
    key: writer,
    allow: /status of 401|401 Authorization|ERR_FAILED/,
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
