/** Debian's Chromium, and pages that may not misbehave: no error, no refused content, no other origin, no secret in sight. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { chromiumFlags, chromium as fullBrowser } from '../../../sdk/test/browser/chromium.ts'
import type { ConsoleServer } from './server.ts'

export interface PageOptions {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  /** The key that signs in. Default: the server's admin key. Null opens the page signed out. */
  key?: string | null
  /** Console messages and failed requests that the test causes on purpose, for example a 401. */
  allow?: RegExp
  /** axe needs a page without a Content-Security-Policy. */
  bypassCSP?: boolean
}

/** What a browser needs of a server. */
export type Reached = Pick<ConsoleServer, 'address' | 'key'>

export interface OpenedPage {
  page: Page
  context: BrowserContext
}

export interface ConsoleBrowser {
  /** Opens a page in a browser context of its own, like another person's browser. */
  open(server: Reached, path: string, options?: PageOptions): Promise<OpenedPage>
  /** Another tab of the same browser. */
  openTab(context: BrowserContext, address: string): Promise<Page>
}

/**
 * Chromium's headless shell, if it is installed: the same engine without the parts of a desktop browser. A page costs a third
 * of the processor time (0.6 against 1.6 s). The project `browser` uses the whole browser.
 */
const binary = [process.env['STET_TEST_HEADLESS_SHELL'] ?? '/usr/bin/chromium-headless-shell', fullBrowser].find(
  (file) => file !== undefined && existsSync(file),
)

/** One browser for all tests of a file. After each test its pages are inspected and closed. */
export function consoleBrowser(extraFlags: readonly string[] = []): ConsoleBrowser {
  let browser: Browser
  const watched = new Map<BrowserContext, Watch>()
  beforeAll(async () => {
    if (!binary) throw new Error('No Chromium: install the package chromium, or set STET_TEST_CHROMIUM')
    browser = await chromium.launch({ executablePath: binary, args: [...chromiumFlags, ...extraFlags] })
  })
  afterEach(async () => {
    const contexts = [...watched]
    watched.clear()
    const problems: string[] = []
    for (const [context, watch] of contexts) {
      problems.push(...(await problemsOf(context, watch)))
      await context.close()
    }
    expect(problems).toEqual([])
  })
  afterAll(() => browser?.close())

  return {
    async open(server, path, options = {}) {
      const { width = 1440, height = 900, theme = 'light', key = server.key, bypassCSP = false } = options
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        bypassCSP,
        locale: 'en-GB',
        timezoneId: 'UTC',
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      context.setDefaultTimeout(30_000)
      const watch: Watch = {
        problems: [],
        origin: new URL(server.address('/')).origin,
        allow: options.allow,
        secrets: [],
      }
      watched.set(context, watch)
      watch.secrets.push(server.key, ...(key ? [key] : []))
      await observe(context, watch)
      if (key !== null) await signIn(context, server, key)
      const page = await context.newPage()
      await page.goto(path.startsWith('http') ? path : server.address(path))
      return { page, context }
    },
    async openTab(context, address) {
      const page = await context.newPage()
      await page.goto(address)
      return page
    },
  }
}

interface Watch {
  problems: string[]
  origin: string
  allow: RegExp | undefined
  secrets: string[]
}

/** Gives a browser a session, as the sign-in screen does. */
async function signIn(context: BrowserContext, server: Reached, apiKey: string): Promise<void> {
  const response = await context.request.post(server.address('/console/session'), {
    data: { apiKey },
    headers: { 'X-Stet-Console': '1' },
  })
  if (response.status() !== 201) throw new Error(`sign-in failed: ${response.status()} ${await response.text()}`)
}

async function observe(context: BrowserContext, watch: Watch): Promise<void> {
  context.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return
    const problem = `${message.text()} ${message.location().url}`
    if (!watch.allow?.test(problem)) watch.problems.push(`console: ${problem}`)
  })
  context.on('weberror', (failure) => {
    if (!watch.allow?.test(failure.error().message)) watch.problems.push(`error: ${failure.error().stack}`)
  })
  context.on('request', (request) => {
    const url = request.url()
    if (!/^(data|blob|about):/.test(url) && new URL(url).origin !== watch.origin)
      watch.problems.push(`request to ${url}`)
  })
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`)
    })
  })
}

/** What must not be after any test, besides what was noticed during it. */
async function problemsOf(context: BrowserContext, { problems, secrets }: Watch): Promise<string[]> {
  for (const page of context.pages()) {
    if (!page.url().startsWith('http')) continue
    const kept = await page
      .evaluate(() => {
        const fields = [...document.querySelectorAll('input, textarea')].map(
          (field) => (field as HTMLInputElement).value,
        )
        const shown = [document.documentElement.outerHTML, ...fields]
        return JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, shown])
      })
      .catch(() => '')
    for (const secret of secrets)
      if (kept.includes(secret)) problems.push(`${page.url()} has a key in its address, storage or document`)
    if (/sign-in#.{20}/.test(page.url())) problems.push('the address still contains the code of a link')
  }
  return problems
}
