/** Debian's Chromium, and pages that may not misbehave: no error, no refused content, no other origin, no secret in sight. */

import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { tally } from '../../../../scripts/tally.ts'
import { chromiumFlags, chromium as consoleChromium } from '../../../sdk/test/browser/chromium.ts'
import type { ConsoleServer } from './server.ts'

export const isLong = process.env['STET_TEST_LONG'] === '1'

/**
 * A test that only `pnpm test:long` runs (ADR 70): of a rare event, or of a rule that a test of a lower level or another
 * flow proves on every push.
 */
export const rarely = test.runIf(isLong)

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
  /** Opens a browser context that no other test uses: for tests that change what a new address does not reset. */
  isOwn?: boolean
}

/** The parts of a server that a browser needs. */
export type Reached = Pick<ConsoleServer, 'address' | 'key'>

export interface OpenedPage {
  page: Page
  context: BrowserContext
}

export interface ConsoleBrowser {
  /** Opens a page that no earlier test has left anything in. A second one in a test is like another person's browser. */
  open(server: Reached, path: string, options?: PageOptions): Promise<OpenedPage>
  /** Another tab of the same browser. */
  openTab(context: BrowserContext, address: string): Promise<Page>
}

let launched: Promise<Browser> | undefined

/** One browser for all test files of a worker process. */
function workerBrowser(): Promise<Browser> {
  if (!consoleChromium) throw new Error('No Chromium: install the package chromium, or set STET_TEST_CHROMIUM')
  if (!launched) {
    tally('browser')
    launched = chromium.launch({ executablePath: consoleChromium, args: [...chromiumFlags], handleSIGTERM: false })
    // Vitest ends a worker with SIGTERM. On `exit`, Playwright kills the browser and deletes its profile.
    process.once('SIGTERM', () => process.exit())
  }
  return launched
}

interface Opened extends OpenedPage {
  watch: Watch
  server: Reached
  options: Pick<PageOptions, 'bypassCSP' | 'isOwn'>
}

/** Contexts of earlier tests, emptied. A new address costs 0.5 s of processor time, a new context 1.2 s. */
const kept: Opened[] = []
const mostKept = 2

/** After each test its pages are inspected. If the test has passed, its contexts are emptied for the next test. */
export function consoleBrowser(): ConsoleBrowser {
  const opened = new Set<Opened>()
  afterEach(async ({ task }) => {
    const all = [...opened]
    opened.clear()
    const problems: string[] = []
    for (const one of all) problems.push(...(await problemsOf(one.context, one.watch)))
    const hasPassed = task.result?.state !== 'fail' && problems.length === 0
    for (const one of all) if (!hasPassed || !(await keep(one))) await close(one.context)
    expect(problems).toEqual([])
  })

  return {
    async open(server, path, options = {}) {
      tally('page')
      const { width = 1440, height = 900, theme = 'light', key = server.key } = options
      const one = { ...(takeKept(options) ?? (await newPage(options))), server }
      opened.add(one)
      const { page, context, watch } = one
      watch.origin = new URL(server.address('/')).origin
      watch.allow = options.allow
      watch.secrets = [server.key, ...(key ? [key] : [])]
      if (key !== null) await signIn(context, server, key)
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme: theme, forcedColors: null })
      await page.goto(path.startsWith('http') ? path : server.address(path))
      return one
    },
    async openTab(context, address) {
      tally('page')
      const page = await context.newPage()
      await page.goto(address)
      return page
    },
  }
}

async function newPage({ bypassCSP = false, isOwn = false }: PageOptions): Promise<Omit<Opened, 'server'>> {
  const browser = await workerBrowser()
  const context = await browser.newContext({
    bypassCSP,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  context.setDefaultTimeout(120_000)
  const watch: Watch = { problems: [], origin: '', allow: undefined, secrets: [] }
  await observe(context, watch)
  return { page: await context.newPage(), context, watch, options: { bypassCSP, isOwn } }
}

/** A route that still answers a request of a closing page would reject outside of the test, and fail the whole run. */
async function close(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  await context.close()
}

/** Empties the context: no session, no storage, no route, no other tab. False if a later test could not use it. */
async function keep(one: Opened): Promise<boolean> {
  const { context, page, watch, server, options } = one
  if (options.isOwn || kept.length === mostKept || page.isClosed()) return false
  for (const other of context.pages()) if (other !== page) await other.close()
  page.removeAllListeners('request')
  page.removeAllListeners('dialog')
  await context.setOffline(false)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // Messages of a closing page belong to no test.
  watch.allow = /./
  const isReached = await page.goto(server.address('/health')).catch(() => null)
  if (!isReached) return false
  await page.evaluate(() => {
    localStorage.clear()
    sessionStorage.clear()
  })
  await context.clearCookies()
  watch.problems = []
  kept.push(one)
  return true
}

function takeKept({ bypassCSP = false, isOwn = false }: PageOptions): Opened | undefined {
  const at = isOwn ? -1 : kept.findIndex(({ options }) => options.bypassCSP === bypassCSP)
  return at < 0 ? undefined : kept.splice(at, 1)[0]
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

/** Whether the middle of the element is in view and nothing covers it. Unlike a click, this never scrolls. */
export function isOnTop(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
  })
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

/** The problems that must be absent after every test: those noticed during it, and stored secrets. */
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
