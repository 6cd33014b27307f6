/** The cost of a fallback while the server does not answer. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConnectionError, NotFoundError, Stet, type StetOptions, TimeoutError } from '../src/index.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

forbidUnhandledRejections()

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }))
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

type Answer = () => Response | Promise<Response>

const prompt = (content: string) => () => Response.json({ content, config: {} })
const failure =
  (status: number, headers = {}) =>
  () =>
    Response.json(
      { name: 'X', message: 'no', errorCode: 'x', details: {} },
      { status, headers: { 'X-Request-Id': 'r', ...headers } },
    )
const refused = () => Promise.reject(new TypeError('fetch failed'))
const never = () => new Promise<Response>(() => {})

/** A client whose server answers as `server.answer` says. Without an answer it accepts requests and stays silent. */
function client(o: StetOptions = {}) {
  const server: { answer: Answer; asked: string[]; open: number } = { answer: never, asked: [], open: 0 }
  const fetch = (url: unknown, { signal }: RequestInit = {}) => {
    server.asked.push(String(url).replace(/.*\/documents\//, ''))
    server.open += 1
    const aborted = new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    return Promise.race([Promise.resolve().then(() => server.answer()), aborted]).finally(() => {
      server.open -= 1
    })
  }
  const stet = new Stet({ apiKey: 'k', projectId: 7, logLevel: 'off', fetch: fetch as never, ...o })
  return { stet, server }
}

/** Resolves to the source of the prompt and the duration of the call. */
async function timed(call: PromiseLike<{ source: string }>): Promise<[source: string, ms: number]> {
  const startedAt = Date.now()
  let taken: [string, number] | undefined
  let isOver = false
  const done = Promise.resolve(call)
    .then(({ source }) => {
      taken = [source, Date.now() - startedAt]
    })
    .finally(() => {
      isOver = true
    })
  done.catch(() => {})
  while (!isOver) {
    // Real work, such as hashing, must not take fake time: the clock jumps only to timers.
    for (let i = 0; i < 10; i++) await new Promise(setImmediate)
    if (!isOver) await vi.advanceTimersToNextTimerAsync()
  }
  await done
  return taken ?? ['never', 0]
}
const settle = () => vi.advanceTimersByTimeAsync(0)

/** Brings a client into an outage. */
async function out(o: StetOptions = {}) {
  const made = client(o)
  expect((await timed(made.stet.prompts.get('a', { fallback: 'x' })))[0]).toBe('fallback')
  made.server.asked.length = 0
  return made
}

describe('the budget of a fallback', () => {
  it.each([{}, { timeout: 1000 }, { timeout: 0 }, { maxRetries: 9, timeout: 100 }, { cache: true }])(
    'is 2 s in all, whatever the client allows a request: %j',
    async (o) => {
      const { stet, server } = client(o)
      const [source, ms] = await timed(stet.prompts.get('a', { fallback: 'x' }))
      expect(source).toBe('fallback')
      expect(ms).toBeGreaterThan(1000)
      expect(ms).toBeLessThanOrEqual(2000)
      await vi.advanceTimersByTimeAsync(1)
      expect(server.open).toBe(0)
    },
  )

  it('is an option', async () => {
    const { stet } = client()
    expect(await timed(stet.prompts.get('a', { fallback: 'x', fallbackTimeout: 300 }))).toEqual(['fallback', 300])
    const patient = client({ timeout: 5000, maxRetries: 0 })
    expect(await timed(patient.stet.prompts.get('a', { fallback: 'x', fallbackTimeout: 0 }))).toEqual([
      'fallback',
      5000,
    ])
  })

  it('is not sent to the server, and does not limit other calls', async () => {
    const { stet, server } = client({ maxRetries: 0 })
    const call = stet.prompts.get('a', { fallbackTimeout: 10 }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(59_999)
    expect([server.open, server.asked]).toEqual([1, ['a']])
    await vi.advanceTimersByTimeAsync(1)
    expect(await call).toBeInstanceOf(TimeoutError)
  })

  it('does not limit a caller without a fallback that wants the same prompt', async () => {
    const { stet, server } = client({ cache: true, maxRetries: 0 })
    const patient = stet.prompts.get('a')
    const call = stet.prompts.get('a', { fallback: 'x' })
    while (server.asked.length < 2) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(2000)
    expect([(await call).source, server.open]).toEqual(['fallback', 1])
    patient.catch(() => {})
    await vi.advanceTimersByTimeAsync(57_999)
    expect(server.open).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await expect(patient).rejects.toBeInstanceOf(TimeoutError)
  })

  it('is not spent on a wait that is longer', async () => {
    const { stet, server } = client()
    server.answer = failure(503, { 'Retry-After': '30' })
    const fallback = vi.fn(() => 'x')
    expect(await timed(stet.prompts.get('a', { fallback }))).toEqual(
      ['fallback', 0].map((v) => v || expect.any(Number)),
    )
    expect(server.asked).toHaveLength(1)
    expect(fallback).toHaveBeenCalledWith(expect.objectContaining({ status: 503 }))
  })

  it('covers an API key function and a store that never return', async () => {
    const silent = client({ apiKey: () => new Promise(() => {}) })
    expect(await timed(silent.stet.prompts.get('a', { fallback: 'x' }))).toEqual(['fallback', 2000])
    const store = { get: () => new Promise<undefined>(() => {}), set() {}, delete() {} }
    const stuck = client({ cache: { store } })
    expect(await timed(stuck.stet.prompts.get('a', { fallback: 'x' }))).toEqual(['fallback', 2000])
  })

  it('ends with the signal of the call', async () => {
    const { stet, server } = client()
    const controller = new AbortController()
    const call = stet.prompts.get('a', { fallback: 'x', signal: controller.signal }).catch((error: unknown) => error)
    await settle()
    controller.abort()
    expect(await call).toMatchObject({ name: 'AbortError' })
    await settle()
    expect(server.open).toBe(0)
    // An abort says nothing about the server.
    server.answer = prompt('one')
    expect((await timed(stet.prompts.get('a', { fallback: 'x' })))[0]).toBe('network')
  })
})

describe('after a failure', () => {
  it('calls with a fallback use it at once, for every prompt and derived client', async () => {
    const { stet, server } = await out()
    const fallback = vi.fn(() => 'x')
    for (const same of [stet, stet.project(8), stet.version('v1')]) {
      expect((await same.prompts.get('b', { fallback })).source).toBe('fallback')
    }
    expect(server.asked).toEqual([])
    expect(fallback).toHaveBeenCalledWith(expect.any(ConnectionError))
  })

  it('other clients, other servers and calls without a fallback are not affected', async () => {
    const { stet, server } = await out()
    const another = client()
    another.server.answer = server.answer = prompt('one')
    expect((await another.stet.prompts.get('a', { fallback: 'x' })).source).toBe('network')
    const moved = stet.withOptions({ baseUrl: 'http://elsewhere.test' })
    expect((await moved.prompts.get('a', { fallback: 'x' })).source).toBe('network')
    expect((await stet.prompts.get('a')).source).toBe('network')
  })

  it('a kept prompt is still preferred', async () => {
    const { stet, server } = client({ cache: true })
    server.answer = prompt('one')
    await stet.prompts.get('kept')
    server.answer = never
    await timed(stet.prompts.get('a', { fallback: 'x' }))
    expect((await stet.prompts.get('kept', { fallback: 'x' })).source).toBe('cache')
    vi.setSystemTime(Date.now() + 60_000)
    expect((await stet.prompts.get('kept', { fallback: 'x' })).source).toBe('stale')
    await vi.advanceTimersByTimeAsync(2000)
  })

  it('an aborted call still rejects', async () => {
    const { stet } = await out()
    const call = stet.prompts.get('a', { fallback: 'x', signal: AbortSignal.abort() })
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('a call after 5 s waits for the server again', async () => {
    const { stet, server } = await out()
    await vi.advanceTimersByTimeAsync(5000)
    server.answer = prompt('one')
    expect((await timed(stet.prompts.get('a', { fallback: 'x' })))[0]).toBe('network')
  })

  it('one request in the background asks whether the server answers again', async () => {
    const { stet, server } = await out()
    const read = async () => (await stet.prompts.get('a', { fallback: 'x' })).source
    await vi.advanceTimersByTimeAsync(1000)
    expect(await Promise.all([read(), read(), read()])).toEqual(['fallback', 'fallback', 'fallback'])
    await settle()
    expect(server.asked).toEqual(['a'])
    // While it is under way, and for 5 s after it failed, no call waits.
    for (let s = 0; s < 60; s++) {
      await vi.advanceTimersByTimeAsync(500)
      expect(await read()).toBe('fallback')
      expect(server.open).toBeLessThanOrEqual(1)
    }
    expect(server.asked.length).toBeGreaterThan(5)
    expect(server.asked.length).toBeLessThan(20)
    server.answer = prompt('one')
    await vi.advanceTimersByTimeAsync(3000)
    expect(await read()).toBe('fallback')
    await settle()
    expect(await read()).toBe('network')
  })

  it('a background request fails silently, once, and no later than the budget', async () => {
    for (const answer of [refused, failure(503), never]) {
      const { stet, server } = await out({ maxRetries: 5 })
      server.answer = answer
      await vi.advanceTimersByTimeAsync(1000)
      await stet.prompts.get('a', { fallback: 'x' })
      await vi.advanceTimersByTimeAsync(2000)
      expect([server.asked.length, server.open]).toEqual([1, 0])
    }
  })

  it('a server that answers with an error of the caller has recovered', async () => {
    const { stet, server } = await out()
    server.answer = failure(404)
    await vi.advanceTimersByTimeAsync(1000)
    await stet.prompts.get('a', { fallback: 'x' })
    await settle()
    await expect(stet.prompts.get('a', { fallback: 'x' })).rejects.toBeInstanceOf(NotFoundError)
  })

  it('a runtime that drops the background request does not prolong the outage', async () => {
    const { stet, server } = await out()
    await vi.advanceTimersByTimeAsync(1000)
    await stet.prompts.get('a', { fallback: 'x' })
    const later = Date.now() + 5000
    vi.clearAllTimers()
    vi.setSystemTime(later)
    server.answer = prompt('one')
    expect((await timed(stet.prompts.get('a', { fallback: 'x' })))[0]).toBe('network')
  })

  it('hands the background request to waitUntil', async () => {
    const waitUntil = vi.fn()
    const { stet } = await out({ cache: { waitUntil } })
    await vi.advanceTimersByTimeAsync(1000)
    await stet.prompts.get('a', { fallback: 'x' })
    expect(waitUntil).toHaveBeenCalledOnce()
    await vi.advanceTimersByTimeAsync(2000)
    await waitUntil.mock.calls[0]?.[0]
  })

  it('a prompt that fails by itself (500) does not affect other prompts', async () => {
    const { stet, server } = client({ maxRetries: 0 })
    server.answer = failure(500)
    expect((await timed(stet.prompts.get('a', { fallback: 'x' })))[0]).toBe('fallback')
    server.answer = prompt('one')
    expect((await stet.prompts.get('a', { fallback: 'x' })).source).toBe('fallback')
    expect((await stet.prompts.get('b', { fallback: 'x' })).source).toBe('network')
  })

  it('the warning is logged when the outage begins', async () => {
    const warn = vi.fn()
    const { stet } = await out({ logLevel: 'warn', logger: { error: warn, warn, info: warn, debug: warn } })
    await stet.prompts.get('a', { fallback: 'x' })
    expect(warn.mock.calls).toEqual([['[stet] a: using the fallback (prompts.get: no response within 2000 ms)']])
  })
})
