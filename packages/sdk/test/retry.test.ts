import { describe, expect, it } from 'vitest'
import { ConnectionError, type Hooks, InternalServerError, RateLimitError, Stet } from '../src/index.ts'
import { isRetryable, retryDelayMs } from '../src/retry.ts'
import { Api } from '../src/transport/api.ts'
import { resolveSettings } from '../src/transport/settings.ts'
import { json, localServer, type Recorded, type Reply } from './support/local-server.ts'

describe('isRetryable', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('retries %i', (status) => {
    expect(isRetryable(status, new Headers(), undefined)).toBe(true)
  })

  it.each([400, 401, 403, 404, 409, 412, 413, 422, 501])('does not retry %i', (status) => {
    expect(isRetryable(status, new Headers(), undefined)).toBe(false)
  })

  it('retries a conflict only while an attempt with the same key is running', () => {
    expect(isRetryable(409, new Headers(), 'idempotency-in-progress')).toBe(true)
    expect(isRetryable(409, new Headers(), 'path-taken')).toBe(false)
  })

  it('obeys the server', () => {
    expect(isRetryable(404, new Headers({ 'x-should-retry': 'true' }), undefined)).toBe(true)
    expect(isRetryable(503, new Headers({ 'x-should-retry': 'false' }), undefined)).toBe(false)
  })
})

describe('retryDelayMs', () => {
  const now = Date.parse('2026-01-02T03:04:05Z')
  const delay = (headers: Record<string, string> | undefined, attempt = 0, random = 0) =>
    retryDelayMs({ attempt, now, random: () => random, headers: headers && new Headers(headers) })

  it.each([
    [{ 'retry-after-ms': '120' }, 120],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Fri, 02 Jan 2026 03:04:08 GMT' }, 3000],
    [{ 'retry-after': 'Fri, 02 Jan 2026 03:04:00 GMT' }, 0],
    [{ 'retry-after': '3600' }, 60_000],
    [{ 'x-ratelimit-reset': String(now + 700) }, 700],
    [{ 'x-ratelimit-reset': String(now - 700) }, 500],
    [{ 'x-ratelimit-reset': String(now + 700), 'x-ratelimit-remaining': '0' }, 700],
    // Every response includes the rate limit, so it is not the cause here.
    [{ 'x-ratelimit-reset': String(now + 30_000), 'x-ratelimit-remaining': '41' }, 500],
    [{ 'retry-after': 'soon' }, 500],
    [{}, 500],
    [undefined, 500],
  ])('%j waits %i ms', (headers, expected) => {
    expect(delay(headers as Record<string, string> | undefined)).toBe(expected)
  })

  it('respects its limits, unless the server requests more', () => {
    const told = { now, random: () => 0, first: 10, longest: 30 }
    expect([0, 1, 2].map((attempt) => retryDelayMs({ ...told, attempt, headers: undefined }))).toEqual([10, 20, 30])
    expect(retryDelayMs({ ...told, attempt: 0, headers: new Headers({ 'retry-after': '3600' }) })).toBe(60_000)
  })

  it('doubles up to 8 s and subtracts at most a quarter', () => {
    expect([0, 1, 2, 3, 4, 9].map((attempt) => delay(undefined, attempt))).toEqual([500, 1000, 2000, 4000, 8000, 8000])
    expect(delay(undefined, 0, 1)).toBe(375)
    expect(delay(undefined, 9, 1)).toBe(6000)
  })
})

describe('requests', () => {
  const busy: Reply = json({ name: 'ServiceUnavailableError', message: 'starting' }, 503, { 'Retry-After': '1' })

  function client(url: string, maxRetries = 2) {
    const slept: number[] = []
    const sleep = async (ms: number) => {
      slept.push(ms)
    }
    const settings = resolveSettings(
      { apiKey: 'k', baseUrl: url, projectId: 1, maxRetries, logLevel: 'off' },
      { sleep, random: () => 0, now: Date.now },
    )
    return { api: new Api(settings), slept }
  }

  it('retry a GET and report the attempt', async () => {
    const { url, requests } = await localServer(busy, busy, json([]))
    const { api, slept } = client(url)
    await expect(api.call('projects.list', {}, {})).resolves.toEqual([])
    expect(requests.map(({ headers }) => headers['x-retry-count'])).toEqual([undefined, '1', '2'])
    expect(slept).toEqual([1000, 1000])
  })

  it('tell onRetry before each wait, and only then', async () => {
    const { url, requests } = await localServer(busy, json({}, 500, { 'retry-after-ms': '1' }), json({}, 404))
    const told: unknown[] = []
    const onRetry: Hooks['onRetry'] = ({ error, ...about }) => {
      told.push({ ...about, error: error.message, requests: requests.length })
      throw new Error('an observer')
    }
    const stet = new Stet({ apiKey: 'k', baseUrl: url, logLevel: 'off', hooks: { onRetry } })
    await expect(stet.me()).rejects.toMatchObject({ status: 404 })
    expect(told).toEqual([
      { operation: 'me', attempt: 1, delayMs: 1000, error: '503 starting', requests: 1 },
      { operation: 'me', attempt: 2, delayMs: 1, error: '500 Internal Server Error', requests: 2 },
    ])
  })

  it('fail with the error of the last attempt and its count', async () => {
    const { url, requests } = await localServer(json({ message: 'slow down' }, 429))
    const error = await client(url)
      .api.call('me', {}, {})
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ attempts: 3, retryable: true, status: 429 })
    expect(requests).toHaveLength(3)
  })

  it('retry a GET and a PUT after a broken connection', async () => {
    const cut: Reply = (response) => void response.destroy()
    const { url, requests } = await localServer(cut, json([]), cut, json({ id: 1 }))
    const { api } = client(url)
    await api.call('projects.list', {}, {})
    await api.call('projects.update', { projectId: 1, name: 'n' }, {})
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT', 'PUT'])
  })

  const cut: Reply = (response) => void response.destroy()
  const keysOf = (requests: readonly Recorded[]) => requests.map(({ headers }) => headers['idempotency-key'])

  it('retry a POST that creates with one idempotency key, and the next call with another', async () => {
    const inProgress = json({ reason: 'idempotency-in-progress' }, 409, { 'Retry-After': '1' })
    const { url, requests } = await localServer(cut, inProgress, json({ uuid: 'v' }))
    const { api, slept } = client(url)
    await expect(api.call('versions.create', { name: 'n' }, {})).resolves.toEqual({ uuid: 'v' })
    await api.call('versions.create', { name: 'n' }, {})
    const [first, second, third, other, ...more] = keysOf(requests)
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect([second, third]).toEqual([first, first])
    expect(other).toMatch(/^[0-9a-f-]{36}$/)
    expect(other).not.toBe(first)
    expect(more).toEqual([])
    expect(slept).toEqual([500, 1000])
    expect(requests.map(({ body }) => body)).toEqual([0, 1, 2, 3].map(() => ({ name: 'n' })))
  })

  it('retry runs and chats with the key of the caller, including streams', async () => {
    const { url, requests } = await localServer(busy)
    const { api, slept } = client(url)
    const options = { idempotencyKey: 'mine', versionUuid: 'live' }
    await expect(api.open('prompts.run', { path: 'a', stream: true }, options)).rejects.toMatchObject({ attempts: 3 })
    await expect(
      api.answer('conversations.chat', { conversationUuid: 'u', messages: [] }, options),
    ).rejects.toMatchObject({ attempts: 3 })
    expect(keysOf(requests)).toEqual(Array.from({ length: 6 }, () => 'mine'))
    expect(slept).toHaveLength(4)
  })

  it('never retry a POST whose key the caller removed, or one that supports no key', async () => {
    const urged = json({ message: 'again' }, 500, { 'x-should-retry': 'true' })
    const { url, requests } = await localServer(cut, urged)
    const { api, slept } = client(url)
    const unkeyed = { headers: { 'Idempotency-Key': null } }
    await expect(api.call('versions.create', { name: 'n' }, unkeyed)).rejects.toBeInstanceOf(ConnectionError)
    await expect(api.open('prompts.run', { path: 'a' }, unkeyed)).rejects.toBeInstanceOf(InternalServerError)
    await expect(api.call('runs.stop', { conversationUuid: 'u' }, {})).rejects.toBeInstanceOf(InternalServerError)
    await expect(api.request('POST', '/projects', { body: {} })).rejects.toBeInstanceOf(InternalServerError)
    expect(requests).toHaveLength(4)
    expect(slept).toEqual([])
    expect(keysOf(requests.slice(0, 2))).toEqual([undefined, undefined])
  })

  it('prefer maxRetries of the call over that of the client', async () => {
    const { url, requests } = await localServer(busy)
    await expect(client(url, 5).api.call('me', {}, { maxRetries: 0 })).rejects.toBeInstanceOf(InternalServerError)
    expect(requests).toHaveLength(1)
  })

  it('stop waiting when the signal aborts', async () => {
    const { url, requests } = await localServer(json({}, 503, { 'Retry-After': '60' }))
    const controller = new AbortController()
    const hooks = { onError: () => controller.abort() }
    const stet = new Stet({ apiKey: 'k', baseUrl: url, logLevel: 'off', hooks })
    await expect(stet.me({ signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError', detached: false })
    expect(requests).toHaveLength(1)
  })
})
