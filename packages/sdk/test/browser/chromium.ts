/** Controls a headless Chromium over a pipe with the DevTools protocol. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { tally } from '../../../../scripts/tally.ts'

const here = (files: readonly (string | undefined)[]) => files.find((file) => file !== undefined && existsSync(file))

export const wholeChromium = here([process.env['STET_TEST_CHROMIUM'], '/usr/bin/chromium'])

/**
 * Chromium's headless shell, if it is installed: the same engine without the parts of a desktop browser. A page costs a
 * third of the processor time (1.0 against 2.7 s).
 */
export const chromium = here([
  process.env['STET_TEST_HEADLESS_SHELL'] ?? '/usr/bin/chromium-headless-shell',
  wholeChromium,
])

export interface Page {
  /** The addresses of all requests so far, without data URLs. */
  readonly requests: readonly string[]
  evaluate(expression: string): Promise<unknown>
  close(): Promise<void>
}

/** Every test browser starts with these: it runs as root, and sends no requests of its own. */
export const chromiumFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

interface Message {
  id?: number
  method?: string
  params?: { request?: { url: string } }
  result?: Record<string, unknown>
  error?: { message: string }
}

export interface PageOptions {
  flags?: readonly string[]
  /** A script that runs before the page's own. */
  before?: string
  /** The width of a phone. */
  width?: number
}

export async function openPage(binary: string, url: string, options: PageOptions = {}): Promise<Page> {
  const { flags = [], before, width } = options
  const profile = mkdtempSync(join(tmpdir(), 'stet-chromium-'))
  // Use a separate process group, so that no child process writes to the removed profile.
  tally('browser')
  const browser = spawn(
    binary,
    ['--headless', '--remote-debugging-pipe', ...chromiumFlags, ...flags, `--user-data-dir=${profile}`],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    },
  )
  const ended = once(browser, 'exit')
  const close = async () => {
    try {
      if (browser.pid !== undefined) process.kill(-browser.pid, 'SIGKILL')
    } catch {
      // The browser has already exited.
    }
    await ended
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
  const dies = ended.then(() => Promise.reject(new Error(`${binary} has ended`)))
  // The browser exits after each test, so mark this promise as handled.
  dies.catch(() => {})
  try {
    const { call, waitFor, requests } = talk(browser)
    const within = <T>(work: Promise<T>) => Promise.race([work, dies])
    const { targetId } = await within(call('Target.createTarget', { url: 'about:blank' }))
    const { sessionId } = await within(call('Target.attachToTarget', { targetId, flatten: true }))
    await within(call('Page.enable', {}, sessionId))
    await within(call('Network.enable', {}, sessionId))
    if (before !== undefined) await within(call('Page.addScriptToEvaluateOnNewDocument', { source: before }, sessionId))
    if (width !== undefined) {
      const size = { width, height: 2 * width, deviceScaleFactor: 1, mobile: true }
      await within(call('Emulation.setDeviceMetricsOverride', size, sessionId))
    }
    const loaded = waitFor('Page.loadEventFired')
    await within(call('Page.navigate', { url }, sessionId))
    await within(loaded)
    const evaluate = async (expression: string) => {
      const asked = { expression, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await within(call('Runtime.evaluate', asked, sessionId))
      if (exceptionDetails) throw new Error(`The page failed: ${JSON.stringify(exceptionDetails)}`)
      return (result as { value?: unknown }).value
    }
    return { requests, evaluate, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Each message is JSON, terminated by a zero byte. */
function talk(browser: ChildProcess) {
  const [, , , input, output] = browser.stdio as unknown as [null, null, null, Writable, Readable]
  const answers = new Map<number, { resolve: (result: Record<string, unknown>) => void; reject: (e: Error) => void }>()
  const waiting = new Map<string, () => void>()
  const requests: string[] = []
  let last = 0
  let rest = ''
  // Ignore errors for data that was still pending at exit.
  for (const pipe of [input, output]) pipe.on('error', () => {})
  output.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0')
    rest = messages.pop() ?? ''
    for (const { id, method, params, result, error } of messages.map((one) => JSON.parse(one) as Message)) {
      const requested = method === 'Network.requestWillBeSent' ? params?.request?.url : undefined
      if (requested !== undefined && !requested.startsWith('data:')) requests.push(requested)
      if (method !== undefined) waiting.get(method)?.()
      const asked = id === undefined ? undefined : answers.get(id)
      if (error) asked?.reject(new Error(error.message))
      else asked?.resolve(result ?? {})
    }
  })
  return {
    requests,
    call: (method: string, params: object, sessionId?: unknown) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        last += 1
        answers.set(last, { resolve, reject })
        input.write(`${JSON.stringify({ id: last, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`)
      }),
    waitFor: (method: string) => new Promise<void>((resolve) => waiting.set(method, resolve)),
  }
}
