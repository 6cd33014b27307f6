import { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { sendRaw } from './raw-http.ts'
import { type Api, createTestProject, issueKey, openServer, openTenant, type TestProject } from './scenario.ts'

let server: TestServer
let api: Api
let key: string
let project: TestProject
let documents: string
const content = 'Hello {{ name }}, grüß dich'

beforeAll(async () => {
  ;({ server, api, key } = await openServer())
  project = await createTestProject(api, { 'folder/hello': content, grüße: content, run: content })
  documents = `${project.live}/documents`
})
afterAll(() => server.close())

interface Asked {
  path: string
  key?: string | undefined
  headers?: Record<string, string>
}

/** Returns the whole response without the date and rate-limit headers. */
async function ask({ path, headers = {}, ...other }: Asked): Promise<string> {
  const authorization = 'key' in other ? other.key : `Bearer ${key}`
  const lines = Object.entries({
    Host: 'a',
    Connection: 'close',
    'X-Request-Id': 'same',
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const { port } = new URL(server.url)
  const answer = await sendRaw(Number(port), [`GET /api/v3${path} HTTP/1.1\r\n${lines.join('')}\r\n`])
  return answer.replace(/^(Date|X-RateLimit-Re\w+|Retry-After): .*$/gm, '$1: …').replace(/"retryAfter":\d+/, '')
}

/** Counts reads of the live cache that load. */
async function loadsDuring(work: () => Promise<unknown>): Promise<number> {
  const { liveCache } = server.deps
  const { read } = liveCache
  let loads = 0
  liveCache.read = (scope, name, load) =>
    read(scope, name, () => {
      loads += 1
      return load()
    })
  await work()
  liveCache.read = read
  return loads
}

describe('GET of a prompt', () => {
  it('loads nothing for a repeated read', async () => {
    const path = `${documents}/folder/hello`
    expect(await ask({ path })).toContain('HTTP/1.1 200 OK')
    expect(await loadsDuring(() => ask({ path }))).toBe(0)
  })

  it.each([
    ['/folder/hello', 200],
    ['/folder%2Fhello', 200],
    ['/folder%2fhello', 200],
    ['/folder/hello/', 200],
    ['//folder/hello', 200],
    ['/folder/hello//', 404],
    ['/folder/hello%2F%2F', 404],
    ['/%66older/hello', 200],
    ['/run', 200],
    ['/gr%C3%BC%C3%9Fe', 200],
    ['/gru%CC%88%C3%9Fe', 200],
    ['/folder//hello', 404],
    ['/folder/../folder/hello', 404],
    ['/folder/hello%00', 400],
    ['/folder/hello%', 400],
    ['/%ED%A0%80', 400],
    ['/folder/HELLO', 404],
    ['/folder', 404],
    ['/', 200],
    ['', 200],
    [`/${'a'.repeat(600)}`, 404],
    ['/constructor', 404],
    ['/__proto__', 404],
  ])('%s is %i', async (tail, status) => {
    expect(await ask({ path: documents + tail })).toContain(`HTTP/1.1 ${status} `)
  })

  it('is 304 if the client has it', async () => {
    const path = `${documents}/folder/hello`
    const etag = /^ETag: (.*)$/m.exec(await ask({ path }))?.[1] ?? ''
    for (const [given, status] of [
      [etag, 304],
      [`W/${etag}, "x"`, 304],
      ['*', 304],
      ['"x"', 200],
    ] as const) {
      const answer = await ask({ path, headers: { 'If-None-Match': given } })
      expect([given, answer]).toEqual([given, expect.stringContaining(`HTTP/1.1 ${status} `)])
      expect(answer).toContain(`ETag: ${etag}`)
    }
  })

  it('refuses a caller without access', async () => {
    const ended = await issueKey(api, { scopes: ['read'] })
    const keys = (await api<{ id: number; prefix: string }[]>('GET', '/api-keys')).body
    const path = `${documents}/folder/hello`
    await ask({ path, key: `Bearer ${ended}` })
    await api('DELETE', `/api-keys/${keys.find(({ prefix }) => ended.startsWith(prefix))?.id}`)
    const other = await createTestProject(api)
    for (const [who, status] of [
      [undefined, 401],
      ['Bearer ', 401],
      ['Basic abc', 401],
      [`Bearer ${key.slice(0, -1)}`, 401],
      [`Bearer ${ended}`, 401],
      [`bearer   ${key}`, 200],
      [key, 401],
      [`Bearer ${await issueKey(api, { scopes: ['run'] })}`, 403],
      [`Bearer ${await issueKey(api, { scopes: ['read'], projectId: other.id })}`, 404],
      [`Bearer ${await issueKey(api, { scopes: ['read'], projectId: project.id })}`, 200],
      [`Bearer ${await openTenant(server, 'another')}`, 404],
    ] as const) {
      expect(await ask({ path, key: who })).toContain(`HTTP/1.1 ${status} `)
    }
  })

  it('is read again after every change that it depends on', async () => {
    const created = await createTestProject(api, { a: 'published' })
    const reader = await issueKey(api, { scopes: ['read'] })
    const drafted = await created.newDraft()
    /** Reads twice. The second read loads nothing. */
    const read = async (version: string) => {
      const get = () => api('GET', `${version}/documents/a`, { key: reader })
      const [first, second] = [await get(), await get()]
      expect(second.text).toBe(first.text)
      return first.status === 200 ? first.body['content'] : first.status
    }
    expect(await read(drafted)).toBe('published')
    await api('POST', `${drafted}/documents/create-or-update`, { body: { path: 'a', prompt: 'edited' } })
    expect([await read(drafted), await read(created.live)]).toEqual(['edited', 'published'])
    await api('POST', `${drafted}/publish`, { body: {} })
    expect(await read(created.live)).toBe('edited')

    const path = `${created.live}/documents/a`
    const providerOf = async () => (await api('GET', path, { key: reader })).body['provider']
    const before = await providerOf()
    const entry = { name: 'kept', provider: 'openai', token: 'sk-test-000000000000' }
    await api('POST', '/provider-api-keys', { body: entry })
    expect([before, await providerOf()]).toEqual(['custom', 'openai'])

    server.deps.liveCache.clear()
    expect(await loadsDuring(() => read(created.live))).toBeGreaterThan(0)
    await api('DELETE', `/projects/${created.id}`, { body: { name: 'scenario' } })
    expect(await read(created.live)).toBe(404)
  })

  it('is refused once its key has expired', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const brief = await issueKey(api, { scopes: ['read'], expiresAt })
    const status = async () => (await api('GET', `${documents}/folder/hello`, { key: brief })).status
    expect([await status(), await status()]).toEqual([200, 200])
    const { clock } = server.deps
    const { now } = clock
    clock.now = () => new Date(expiresAt)
    try {
      expect(await status()).toBe(401)
    } finally {
      clock.now = now
    }
  })

  it('yields to other connections when thousands of requests are pipelined', async () => {
    const path = `${documents}/folder/hello`
    await ask({ path })
    const { end } = ServerResponse.prototype
    let [answers, inTurn, most] = [0, 0, 0]
    ServerResponse.prototype.end = function (...args: unknown[]) {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0
        })
      answers += 1
      inTurn += 1
      most = Math.max(most, inTurn)
      return Reflect.apply(end, this, args) as typeof this
    }
    const request = (more = '') =>
      `GET /api/v3${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`
    const all = request().repeat(1_999) + request('Connection: close\r\n')
    try {
      const answer = await sendRaw(Number(new URL(server.url).port), [all])
      expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2_000)
    } finally {
      ServerResponse.prototype.end = end
    }
    expect(answers).toBe(2_000)
    // The ticks counted here alternate with the server's.
    expect(most).toBeLessThanOrEqual(1_000)
  })

  it('consumes one rate-limit point per request', async () => {
    const limited = await issueKey(api, { scopes: ['read'], plan: 'custom', limit: 3 })
    const get = () => api('GET', `${documents}/folder/hello`, { key: limited })
    // Sequential requests. A window begins with the request that leaves two.
    let window: string[] = []
    for (let last = ''; last !== '429 0'; ) {
      const { status, headers } = await get()
      last = `${status} ${headers.get('x-ratelimit-remaining')}`
      window = last === '200 2' ? [last] : [...window, last]
      expect(headers.get('retry-after')).toBe(status === 429 ? '1' : null)
    }
    expect(window).toEqual(['200 2', '200 1', '200 0', '429 0'])
  })
})
