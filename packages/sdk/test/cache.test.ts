import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type CacheEntry,
  type CacheStore,
  ConfigurationError,
  ConnectionError,
  NotFoundError,
  type Prompt,
  Stet,
  type StetOptions,
} from '../src/index.ts'
import { json, localServer, type Recorded, type Reply } from './support/local-server.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

forbidUnhandledRejections()

const START = Date.parse('2026-01-02T03:04:05Z')
// Only the clock is fake. Sockets and timers are real.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: START }))
afterEach(() => void vi.useRealTimers())
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

const client = (url: string, o: StetOptions = {}) =>
  new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off', maxRetries: 0, cache: true, ...o })

/** Starts a server that returns `text` as every prompt's content and ETag. */
function promptServer() {
  const state = { text: 'one', status: 200, gate: Promise.resolve(), path: '' }
  const reply: Reply = async (response, request) => {
    await state.gate
    const { text, status } = state
    if (status !== 200)
      return json({ name: 'Failure', message: 'no', errorCode: 'x', details: {} }, status)(response, request)
    const etag = `"${text}"`
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { ETag: etag }).end()
    return json({ content: text, path: request.url, uuid: 'reused', versionUuid: 'v-live', config: {} }, 200, {
      ETag: etag,
    })(response, request)
  }
  return localServer(reply).then((server) => ({ ...server, state }))
}

/** A client whose background requests can be awaited. */
function renewing(url: string, o: StetOptions = {}) {
  let renewal: Promise<unknown> = Promise.resolve()
  const waitUntil = (work: Promise<unknown>) => {
    renewal = work
  }
  return { stet: client(url, { cache: { waitUntil }, ...o }), renewed: () => renewal }
}

const seen = ({ content, source }: { content: string; source: string }) => [content, source]
const gets = (requests: Recorded[]) => requests.filter(({ method }) => method === 'GET')

describe('the age of a prompt', () => {
  it('returns a fresh prompt without a request', async () => {
    const { url, requests } = await promptServer()
    const stet = client(url)
    expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'network'])
    pass(59_999)
    const kept = await stet.prompts.get('a')
    expect(seen(kept)).toEqual(['one', 'cache'])
    expect(kept.fetchedAt).toBe(START)
    expect(requests).toHaveLength(1)
  })

  it('returns a stale prompt immediately and refreshes it with one background request', async () => {
    const { url, requests, state } = await promptServer()
    const waited: Promise<unknown>[] = []
    const stet = client(url, { cache: { waitUntil: (work) => waited.push(work) } })
    await stet.prompts.get('a')
    pass(60_000)
    state.text = 'two'
    const stale = await Promise.all([1, 2, 3].map(() => stet.prompts.get('a')))
    expect(stale.map(seen)).toEqual([1, 2, 3].map(() => ['one', 'stale']))
    expect(waited).toHaveLength(1)
    await waited[0]
    expect(requests).toHaveLength(2)
    expect(requests[1]?.headers['if-none-match']).toBe('"one"')
    expect(seen(await stet.prompts.get('a'))).toEqual(['two', 'cache'])
    expect(requests).toHaveLength(2)
  })

  it('resets the age of an unchanged prompt and keeps its ETag', async () => {
    const { url, requests } = await promptServer()
    const hooks = { onError: vi.fn() }
    const { stet, renewed } = renewing(url, { hooks })
    await stet.prompts.get('a')
    for (const round of [1, 2]) {
      pass(60_001)
      expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'stale'])
      await renewed()
      expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'cache'])
      expect(requests[round]?.headers['if-none-match']).toBe('"one"')
    }
    expect(hooks.onError).not.toHaveBeenCalled()
  })

  it('requests an expired prompt before returning', async () => {
    const { url, requests, state } = await promptServer()
    const stet = client(url)
    await stet.prompts.get('a')
    state.text = 'two'
    pass(3_600_000)
    expect(seen(await stet.prompts.get('a'))).toEqual(['two', 'network'])
    expect(requests[1]?.headers['if-none-match']).toBeUndefined()
  })

  it('keeps the copy and waits 5 s when a refresh fails', async () => {
    const { url, requests, state } = await promptServer()
    const { stet, renewed } = renewing(url)
    const read = async () => {
      const got = seen(await stet.prompts.get('a'))
      await renewed()
      return [...got, requests.length]
    }
    await read()
    state.status = 500
    pass(60_000)
    expect(await read()).toEqual(['one', 'stale', 2])
    pass(4999)
    expect(await read()).toEqual(['one', 'stale', 2])
    pass(1)
    expect(await read()).toEqual(['one', 'stale', 3])
    pass(5000)
    state.status = 200
    state.text = 'two'
    await read()
    expect(await read()).toEqual(['two', 'cache', 4])
  })

  it('evicts a deleted prompt', async () => {
    const { url, state } = await promptServer()
    const { stet, renewed } = renewing(url)
    await stet.prompts.get('a')
    await stet.prompts.get('ab')
    state.status = 404
    pass(60_000)
    expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'stale'])
    await renewed()
    await expect(stet.prompts.get('a')).rejects.toBeInstanceOf(NotFoundError)
    expect(seen(await stet.prompts.get('ab'))).toEqual(['one', 'stale'])
    await renewed()
  })
})

describe('shared requests', () => {
  /** Returns a server that blocks until released, and a store that records when its callers have read it. */
  async function gated() {
    const server = await promptServer()
    let open = () => {}
    server.state.gate = new Promise((resolve) => {
      open = resolve
    })
    const entries = new Map<string, CacheEntry>()
    const get = vi.fn((key: string) => entries.get(key))
    const store = { get, set: (key: string, entry: CacheEntry) => void entries.set(key, entry), delete() {} }
    // Once a caller has read the store, it only waits for the server.
    const asked = (callers: number) => vi.waitFor(() => expect(get).toHaveBeenCalledTimes(callers), 120_000)
    return { ...server, stet: client(server.url, { cache: { store } }), asked, open }
  }

  it('serve all callers that miss the same prompt', async () => {
    const { stet, requests, asked, open } = await gated()
    const calls = Promise.all(['a', 'a', 'b', 'a'].map((path) => stet.prompts.get(path)))
    await asked(4)
    open()
    const all = await calls
    expect(all.map(({ source }) => source)).toEqual(all.map(() => 'network'))
    expect(requests).toHaveLength(2)
    if (all[0]) all[0].config['model'] = 'mine'
    expect((await stet.prompts.get('a')).config).toEqual({})
  })

  it('continue when one caller aborts', async () => {
    const { stet, requests, asked, open } = await gated()
    const controller = new AbortController()
    const leaving = stet.prompts.get('a', { signal: controller.signal })
    const staying = stet.prompts.get('a')
    await asked(2)
    controller.abort()
    await expect(leaving).rejects.toMatchObject({ name: 'AbortError' })
    open()
    expect(seen(await staying)).toEqual(['one', 'network'])
    expect(requests).toHaveLength(1)
  })

  it('reject for all callers on failure, and cache nothing', async () => {
    const { url, state } = await promptServer()
    state.status = 403
    const stet = client(url)
    for (const outcome of await Promise.allSettled([stet.prompts.get('a'), stet.prompts.get('a')])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 403 } })
    }
    state.status = 200
    expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'network'])
  })
})

describe('cache keys', () => {
  it('differ by API key, server, project, version and path', async () => {
    const { url, requests } = await promptServer()
    let key = 'first'
    const stet = client(url, { apiKey: () => key })
    const read = async () => {
      await stet.prompts.get('a')
      await stet.prompts.get('b')
      await stet.project(8).prompts.get('a')
      await stet.version('v1').prompts.get('a')
      await stet.prompts.get('a', { headers: { Authorization: 'Bearer other' } })
    }
    await read()
    await read()
    expect(requests).toHaveLength(5)
    key = 'second'
    await read()
    expect(requests).toHaveLength(9)
  })

  it('contain no secret', async () => {
    const { url } = await promptServer()
    const store = { get: vi.fn(() => undefined), set: vi.fn<CacheStore['set']>(), delete: vi.fn() }
    await client(url, { apiKey: 'stet_secret', cache: { store } }).prompts.get('a')
    const [key, entry, ttl] = store.set.mock.calls[0] ?? []
    expect(key).toMatch(/^[0-9a-f]{16}\|.*\/projects\/7\/versions\/live\/documents\/a\|$/)
    expect(key).not.toContain('stet_secret')
    expect(entry).toMatchObject({ prompt: { content: 'one' }, storedAt: START, etag: '"one"' })
    expect(ttl).toBe(3_600_000)
    expect(store.get).toHaveBeenCalledWith(key)
  })
})

describe('writes', () => {
  const V = 'v1'
  const writes: [string, (stet: Stet) => Promise<unknown>, string[]][] = [
    ['create', (stet) => stet.prompts.create('n', { versionUuid: V }), [V]],
    ['getOrCreate', (stet) => stet.prompts.getOrCreate('n', { versionUuid: V }), [V]],
    ['createOrUpdate', (stet) => stet.prompts.createOrUpdate('a', { versionUuid: V, prompt: 'x' }), [V]],
    [
      'a forced write',
      (stet) => stet.prompts.createOrUpdate('a', { versionUuid: V, prompt: 'x', force: true }),
      [V, 'live'],
    ],
    ['delete', (stet) => stet.prompts.delete('a', { versionUuid: V }), [V]],
    ['deleting environments/v2', (stet) => stet.prompts.delete('environments/v2', { versionUuid: V }), [V]],
    ['deleting versions/v2/publish', (stet) => stet.prompts.delete('versions/v2/publish', { versionUuid: V }), [V]],
    ['push', (stet) => stet.versions.push(V, []), [V]],
    ['revert', (stet) => stet.versions.revert(V), [V]],
    ['publish', (stet) => stet.versions.publish(V), [V, 'live']],
    ['a draft that is filled', (stet) => stet.versions.create('next', { reuse: true, changes: [] }), ['reused']],
    ['a draft that is published', (stet) => stet.versions.create('next', { publish: {} }), ['reused', 'live']],
    ['the deletion of a draft', (stet) => stet.versions.delete(V), [V]],
    ['a rollback', (stet) => stet.environments.rollback('live'), ['live']],
    ['a rollback of LIVE', (stet) => stet.environments.rollback('LIVE'), ['live']],
    ['nothing', (stet) => stet.versions.restore('deleted'), []],
  ]
  it.each(writes)('%s evicts the prompts that it may have changed', async (_, write, forgotten) => {
    const { url, requests } = await promptServer()
    const stet = client(url)
    const versions = [V, 'v2', 'reused', 'live']
    for (const version of versions) await stet.version(version).prompts.get('a')
    const other = stet.project(8)
    await other.prompts.get('a')
    await write(stet)
    const before = gets(requests).length
    for (const version of versions) {
      const { source } = await stet.version(version).prompts.get('a')
      expect([version, source]).toEqual([version, forgotten.includes(version) ? 'network' : 'cache'])
    }
    expect((await other.prompts.get('a')).source).toBe('cache')
    expect(gets(requests)).toHaveLength(before + forgotten.length)
  })

  it('a pending request does not restore the old text after a write', async () => {
    const { url, requests, state } = await promptServer()
    const stet = client(url)
    let open = () => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    const early = stet.prompts.get('a')
    await vi.waitFor(() => expect(requests).toHaveLength(1), 120_000)
    const write = stet.prompts.createOrUpdate('a', { prompt: 'two', force: true })
    state.gate = Promise.resolve()
    await write
    open()
    await early
    state.text = 'two'
    expect(seen(await stet.prompts.get('a'))).toEqual(['two', 'network'])
  })

  it('a failed write also evicts, because it may have taken effect', async () => {
    const { url, state } = await promptServer()
    const stet = client(url)
    await stet.prompts.get('a')
    state.status = 500
    await expect(stet.prompts.createOrUpdate('a', { prompt: 'x', force: true })).rejects.toThrow()
    state.status = 200
    expect((await stet.prompts.get('a')).source).toBe('network')
  })
})

describe('limits and stores', () => {
  it('evicts the least recently used prompt first', async () => {
    const { url } = await promptServer()
    const stet = client(url, { cache: { max: 2 } })
    for (const path of ['a', 'b', 'a', 'c']) await stet.prompts.get(path)
    expect((await stet.prompts.get('a')).source).toBe('cache')
    expect((await stet.prompts.get('b')).source).toBe('network')
  })

  it('shares a custom store between clients and deletes evicted prompts from it', async () => {
    const { url, requests } = await promptServer()
    const entries = new Map<string, CacheEntry>()
    const store = {
      get: async (key: string) => entries.get(key),
      set: async (key: string, entry: CacheEntry) => void entries.set(key, entry),
      delete: async (prefix: string) => {
        for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key)
      },
    }
    await client(url, { cache: { store } }).prompts.get('a')
    const second = client(url, { cache: { store } })
    expect((await second.prompts.get('a')).source).toBe('cache')
    expect(requests).toHaveLength(1)
    await client(url, { cache: { store } }).versions.publish('v1')
    expect((await second.prompts.get('a')).source).toBe('network')
  })

  it('logs and skips a failing store', async () => {
    const { url } = await promptServer()
    const fail = () => Promise.reject(new Error('redis is away'))
    const warn = vi.fn()
    const logger = { error: warn, warn, info: warn, debug() {} }
    const stet = client(url, { cache: { store: { get: fail, set: fail, delete: fail } }, logger, logLevel: 'warn' })
    expect(seen(await stet.prompts.get('a'))).toEqual(['one', 'network'])
    await stet.versions.publish('v1')
    expect(warn.mock.calls.length).toBeGreaterThan(0)
    for (const call of warn.mock.calls) expect(String(call)).toContain('redis is away')
  })

  it('the cache is off by default', async () => {
    const { url, requests } = await promptServer()
    const stet = client(url, { cache: false })
    await stet.prompts.get('a')
    expect((await stet.prompts.get('a')).source).toBe('network')
    await stet.prompts.get('a', { cache: true })
    expect((await stet.prompts.get('a', { cache: { ttl: 5 } })).source).toBe('cache')
    pass(6)
    expect((await stet.prompts.get('a', { cache: { ttl: 5, staleTtl: 5 } })).source).toBe('network')
    expect(requests).toHaveLength(4)
  })

  it('derived clients share the cache', async () => {
    const { url, requests } = await promptServer()
    const stet = client(url)
    await stet.withOptions({ timeout: 5000 }).prompts.get('a')
    expect((await stet.project(7).prompts.get('a')).source).toBe('cache')
    expect(requests).toHaveLength(1)
  })

  it('prefetch fills the cache', async () => {
    const { url, requests, state } = await promptServer()
    const stet = client(url)
    const paths = Array.from({ length: 9 }, (_, index) => `p${index}`)
    await stet.prompts.prefetch(paths)
    for (const path of paths) expect((await stet.prompts.get(path)).source).toBe('cache')
    expect(requests).toHaveLength(9)
    state.status = 404
    await expect(stet.prompts.prefetch(['gone'])).rejects.toBeInstanceOf(NotFoundError)
  })

  it('returns a response for a cached prompt too', async () => {
    const { url } = await promptServer()
    const stet = client(url)
    await stet.prompts.get('a')
    const { data, response, requestId } = await stet.prompts.get('a').withResponse()
    expect([data.source, response.status, requestId]).toEqual(['cache', 200, null])
    expect(await (await stet.prompts.get('a').asResponse()).json()).toMatchObject({ content: 'one' })
  })
})

describe('fallback', () => {
  const bundle = { 'support/reply': 'Hello {{ name }}' }

  it.each([429, 500, 503])('is used for %i, sets the source, and warns once', async (status) => {
    const { url, state } = await promptServer()
    state.status = status
    const warn = vi.fn()
    const logger = { error: warn, warn, info() {}, debug() {} }
    const stet = client(url, { logger, logLevel: 'warn' })
    const prompt = await stet.prompts.get('support/reply', { fallback: bundle['support/reply'] })
    expect(prompt).toMatchObject({
      content: 'Hello {{ name }}',
      resolvedContent: 'Hello {{ name }}',
      contentHash: '1cc8b4910ff8026121f71a45ce3e85ec9b0c8f4f8bacec9a1fa4e72386161d08',
      path: 'support/reply',
      projectId: 7,
      versionUuid: 'live',
      source: 'fallback',
      fetchedAt: START,
      errors: [],
    } satisfies Partial<Prompt> & { source: string; fetchedAt: number })
    expect(warn.mock.calls).toEqual([[expect.stringContaining('support/reply')]])
    // The fallback is not cached, so a call after the outage sends a request.
    state.status = 200
    pass(5000)
    expect(seen(await stet.prompts.get('support/reply', { fallback: 'x' }))).toEqual(['one', 'network'])
  })

  it.each([401, 403, 404, 400, 422])('never hides %i', async (status) => {
    const { url, state } = await promptServer()
    state.status = status
    await expect(client(url).prompts.get('a', { fallback: 'x' })).rejects.toMatchObject({ status })
    await expect(client(url, { cache: false }).prompts.get('a', { fallback: 'x' })).rejects.toMatchObject({ status })
  })

  it('can be a prompt or a function, with and without the cache', async () => {
    for (const cache of [true, false]) {
      const stet = client('http://127.0.0.1:1', { cache })
      const snapshot = { content: 'kept', config: { model: 'm' }, contentHash: 'h' }
      expect(await stet.prompts.get('a', { fallback: snapshot })).toMatchObject({ ...snapshot, source: 'fallback' })
      const fallback = vi.fn(async () => 'computed')
      expect(await stet.prompts.get('a', { fallback })).toMatchObject({ content: 'computed', source: 'fallback' })
      expect(fallback).toHaveBeenCalledWith(expect.any(ConnectionError))
    }
  })

  it('is not used while a cached prompt is available', async () => {
    const { url, state } = await promptServer()
    const { stet, renewed } = renewing(url)
    await stet.prompts.get('a')
    state.status = 503
    pass(1_000_000)
    expect(seen(await stet.prompts.get('a', { fallback: 'x' }))).toEqual(['one', 'stale'])
    await renewed()
    pass(3_600_000)
    expect(seen(await stet.prompts.get('a', { fallback: 'x' }))).toEqual(['x', 'fallback'])
  })

  it('does not hide an abort', async () => {
    const { url } = await promptServer()
    const signal = AbortSignal.abort()
    await expect(client(url).prompts.get('a', { fallback: 'x', signal })).rejects.toMatchObject({ name: 'AbortError' })
    await expect(client(url, { apiKey: '' }).prompts.get('a', { fallback: 'x' })).rejects.toBeInstanceOf(
      ConfigurationError,
    )
  })
})
