import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiCaller } from '../../../server/test/http/api-call.ts'
import { issueKey } from '../../../server/test/http/scenario.ts'
import { type FakeProvider, fakeProvider } from '../../../server/test/support/fake-provider.ts'
import { consoleBrowser } from '../support/browser.ts'
import { type EmptyServer, emptyServer, signInLink } from '../support/server.ts'

const browser = consoleBrowser()
let server: EmptyServer
let fake: FakeProvider
let api: ReturnType<typeof apiCaller>

beforeAll(async () => {
  server = await emptyServer({ STET_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  fake = await fakeProvider()
  api = apiCaller(server.address(''), server.key)
})
afterAll(async () => {
  await server.close()
  await fake.close()
})

test('from an empty folder in three actions to the first word, then to a prompt that is published and called by curl', async () => {
  const link = await signInLink(server)
  // Signing in again ends the session whose page may still be asking.
  const { page, context } = await browser.open(server, link, { key: null, allow: /status of 401/ })
  const examples = Promise.withResolvers<void>()
  let isHeld = false
  await page.route('**/examples?**', async (route) => {
    if (page.url().includes('/prompts/hello')) {
      isHeld = true
      await examples.promise
    }
    await route.continue()
  })
  await page.getByRole('button', { name: /^Sign in as/ }).click()
  await page.getByRole('button', { name: 'Begin' }).click()
  const guide = page.getByRole('region', { name: 'First steps' })
  await guide.getByText('demo provider is answering, not a model').waitFor()
  const run = page.locator('[data-run]')
  // The prompt runs with its example, also if that is slow to load.
  await run.waitFor()
  await expect.poll(() => isHeld).toBe(true)
  await page.keyboard.press('Control+Enter')
  expect(await run.getAttribute('aria-disabled')).toBe('true')
  examples.resolve()
  await expect.poll(() => run.evaluate((button) => button.matches(':focus'))).toBe(true)
  // The focus is also visible after the click on Begin.
  expect(await run.evaluate((button) => getComputedStyle(button).outlineStyle)).toBe('solid')
  expect(await page.getByRole('textbox', { name: /^name/ }).inputValue()).toBe('Ada')
  const height = () => guide.evaluate((element) => element.getBoundingClientRect().height)
  const before = await height()
  await page.keyboard.press('Enter')
  await page.getByText('demo provider, not a real model').first().waitFor()
  await guide.getByRole('listitem').filter({ hasText: 'Run it' }).getByText('(done)').waitFor({ state: 'attached' })
  expect(await height()).toBe(before)
  // The answer stays, also while the live text is loading.
  const live = Promise.withResolvers<void>()
  await page.route('**/versions/live/documents/hello', async (route) => {
    await live.promise
    await route.continue()
  })
  await guide.getByRole('button', { name: 'Publish' }).click()
  await page.waitForURL(/\/v\/live\/prompts\/hello/)
  await page.getByRole('button', { name: 'Run again (the prompt is loading)' }).waitFor()
  const answers = () => page.locator('[data-answer]').allTextContents()
  expect(await answers()).toEqual([expect.stringContaining('Ada')])
  live.resolve()
  await page.getByRole('textbox', { name: /^Text of hello/ }).waitFor()
  expect(await answers()).toEqual([expect.stringContaining('Ada')])
  expect(await height()).toBe(before)
  const line = await guide.getByLabel('curl command', { exact: true }).evaluate((element) => element.textContent)
  const [, address = ''] = /curl (\S+)/.exec(line) ?? []
  const [, body = ''] = /-d '(.*)'/.exec(line) ?? []
  const response = await fetch(address, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json' },
    body,
  })
  expect(response.status).toBe(200)
  await guide.getByText('Your program now runs the live version').waitFor()

  // The steps belong to the person who began them.
  const parts: string[] = []
  page.on('request', (request) => parts.push(request.url()))
  /** Opens the prompt with another session of the same browser. Resolves to whether the page loaded the first steps. */
  const asksAs = async (apiKey: string, name: string) => {
    const request = { data: { apiKey }, headers: { 'X-Stet-Console': '1' } }
    const session = await context.request.post(server.address('/console/session'), request)
    expect(session.status()).toBe(201)
    parts.length = 0
    await page.reload()
    await page.getByTitle(`${name}, default`).waitFor()
    await page.getByRole('treeitem', { name: 'hello' }).waitFor()
    return parts.some((part) => /\/guide-[^/]*\.js$/.test(part))
  }
  const ben = await issueKey(api, { scopes: ['admin'], author: { name: 'Ben', email: 'ben@example.com' } })
  expect(await asksAs(ben, 'Ben')).toBe(false)
  expect(await guide.count()).toBe(0)
  expect(await asksAs(server.key, 'Admin')).toBe(true)
  await guide.getByRole('button', { name: 'Done' }).click()
  await guide.waitFor({ state: 'detached' })
  await page.goto(server.address('/'))
  await page.waitForURL(/\/v\/live\/prompts/)
  expect(await guide.count()).toBe(0)
  // The next tests begin again.
  const [project] = JSON.parse((await api('GET', '/projects')).text) as [{ id: number; name: string }]
  const deleted = await api('DELETE', `/projects/${project.id}`, { body: { name: project.name } })
  expect(deleted.status, deleted.text).toBe(200)
})

test('the key of a provider is kept only if the provider answers with it', async () => {
  const { page } = await browser.open(server, '/')
  // The form has no field for an address, and the real one cannot be reached from a test.
  await page.route('**/api/v3/provider-api-keys', async (route) => {
    const isCreation = route.request().method() === 'POST'
    const body = isCreation && { ...route.request().postDataJSON(), url: fake.url }
    await route.continue(body ? { postData: JSON.stringify(body) } : {})
  })
  const stored = async () => {
    const response = await fetch(server.address('/api/v3/provider-api-keys'), {
      headers: { Authorization: `Bearer ${server.key}` },
    })
    return ((await response.json()) as { name: string }[]).map(({ name }) => name)
  }
  await page.getByLabel('Key').fill('sk-mistyped')
  await page.getByRole('button', { name: 'Save and test (needs a model)', disabled: true }).waitFor()
  const proposed = () =>
    page.locator('datalist option').evaluateAll((all) => all.map((option) => option.getAttribute('value')))
  await expect.poll(proposed).toContain('gpt-4o-mini')
  await page.getByLabel('Provider').selectOption('Anthropic')
  await expect.poll(proposed).toContain('claude-sonnet-4-5')
  expect(await proposed()).not.toContain('gpt-4o-mini')
  await page.getByLabel('Provider').selectOption('OpenAI')
  await page.getByLabel('Model').fill('gpt-4o-mini')
  fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided: mistyped' } } })
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByText(/Incorrect API key provided/).waitFor()
  expect(await stored()).toEqual(['demo'])

  await page.getByLabel('Key').fill('sk-correct')
  await page.getByRole('button', { name: 'Save and test' }).click()
  await page.getByText(/^openai answers from now on/).waitFor()
  expect(await stored()).toContain('openai')
})
