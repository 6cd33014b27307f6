/** The API reference in a real browser: nothing from elsewhere, nothing that its policy refuses, and a request that works. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium, openPage, type Page } from '../../../sdk/test/browser/chromium.ts'
import { sharedServer } from './shared-server.ts'

const { server } = await sharedServer()

const isLong = process.env['STET_TEST_LONG'] === '1'
if (!chromium)
  console.warn('\n*** SKIPPED: the API reference. Install Chromium, or set STET_TEST_CHROMIUM to its binary. ***\n')

/** Counts refusals from the first script on, and gives the tests what a reader does. */
const BEFORE = `
  window.refusals = []
  document.addEventListener('securitypolicyviolation', (e) => refusals.push(e.effectiveDirective + ' ' + e.blockedURI))
  window.find = async (what, search) => {
    const end = Date.now() + 30000
    for (;;) {
      const found = search()
      if (found) return found
      if (Date.now() > end) throw new Error('The page does not show ' + what + ': ' + document.body.innerText.slice(0, 500))
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  window.button = (label, part) =>
    find(label, () => [...part.querySelectorAll('button')].find((one) => one.textContent.includes(label)))
  window.operation = async (address) => {
    location.hash = address
    const found = await find(address, () => document.querySelector('[id$="' + address + '"]'))
    found.scrollIntoView()
    return found
  }
`

const SEND = (key: string) => `(async () => {
  const operation = await window.operation('tag/api-keys/GET/api/v3/me')
  ;(await button('Test Request', operation)).click()
  const dialog = await find('the dialog', () => document.querySelector('[role=dialog]'))
  const token = await find('the key', () => dialog.querySelector('input[placeholder=Token]'))
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(token, '${key}')
  token.dispatchEvent(new Event('input', { bubbles: true }))
  ;(await button('Send', dialog)).click()
  await find('the response', () => dialog.innerText.includes('200 OK') && dialog.innerText.includes('"workspace"'))
  return JSON.stringify({ ...localStorage, ...sessionStorage })
})()`

const RUN = 'tag/runs/POST/api/v3/projects/{projectId}/versions/{versionUuid}/documents/run'
const READ = `(async () => {
  const operation = await window.operation('${RUN}')
  await find('the body schema', () => operation.innerText.includes('customIdentifier'))
  const curl = operation.innerText
  ;(await button('Curl', operation)).click()
  ;(await find('the SDK', () => [...document.querySelectorAll('[role=option]')].find((one) => one.textContent.includes('@stet/sdk')))).click()
  await find('the SDK sample', () => operation.innerText.includes('stet.prompts.run('))
  return { curl, code: [...operation.querySelectorAll('p code')].map((one) => one.textContent) }
})()`

describe.runIf(chromium).each(isLong ? [1440, 360] : [360])('the API reference, %i pixels wide', (width) => {
  let page: Page
  beforeAll(async () => {
    page = await openPage(chromium ?? '', `${server.url}/docs`, { before: BEFORE, width })
  })
  afterAll(() => page.close())

  it('shows resolved schemas, rendered Markdown, full paths, and samples for curl and the SDK', async () => {
    const { curl, code } = (await page.evaluate(READ)) as { curl: string; code: string[] }
    expect(curl).toContain(`curl '${server.url}/api/v3/projects/{projectId}/versions/{versionUuid}/documents/run'`)
    expect(curl).toContain('Stored with the conversation, to find it by.')
    expect(curl).not.toMatch(/\$ref|#\/components/)
    expect(code).toContain('Idempotency-Key')
  })

  it("sends a request with the reader's key, which it does not store", async () => {
    expect(await page.evaluate(SEND(server.adminKey))).not.toContain(server.adminKey)
    expect(page.requests).toContain(`${server.url}/api/v3/me`)
  })

  it('links the documents for programs', async () => {
    const links = await page.evaluate(`[...document.querySelectorAll('a')].map((one) => one.href)`)
    expect(links).toEqual(
      expect.arrayContaining(['openapi.json', 'llms.txt', 'docs/errors.md'].map((path) => `${server.url}/${path}`)),
    )
  })

  it('is not wider than the window', async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
  })

  it('requests nothing from elsewhere and nothing that its policy refuses', async () => {
    expect(await page.evaluate('refusals')).toEqual([])
    const origins = new Set(page.requests.map((address) => new URL(address).origin))
    expect([...origins]).toEqual([server.url])
  })
})
