import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { version } from '../package.json'
import { deferred } from '../src/deferred.ts'
import {
  AbortError,
  ApiError,
  ConfigurationError,
  ConnectionError,
  Stet,
  type StetOptions,
  TimeoutError,
} from '../src/index.ts'
import { json, localServer, text } from './support/local-server.ts'

const client = (url: string, o: StetOptions = {}) =>
  new Stet({ apiKey: 'stet_secret', baseUrl: url, projectId: 7, maxRetries: 0, logLevel: 'off', ...o })

describe('headers', () => {
  it('a GET', async () => {
    const { url, requests } = await localServer(json([]))
    await client(url).prompts.list()
    const headers = requests[0]?.headers
    expect(headers).toMatchObject({
      authorization: 'Bearer stet_secret',
      accept: 'application/json',
      'user-agent': `stet-sdk/${version}`,
      'x-stet-sdk-version': version,
    })
    for (const name of ['content-type', 'idempotency-key', 'x-retry-count', 'x-latitude-sdk-version']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  it('a POST has its own idempotency key, or the one of the caller', async () => {
    const { url, requests } = await localServer(json({}))
    await client(url).versions.create('a')
    await client(url).versions.create('a', { idempotencyKey: 'mine' })
    expect(requests[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/)
    expect(requests[1]?.headers).toMatchObject({ 'idempotency-key': 'mine', 'content-type': 'application/json' })
  })

  it('merges defaults with those of the call, and null removes a header', async () => {
    const { url, requests } = await localServer(json([]))
    const stet = client(url, { defaultHeaders: { 'X-Team': 'a', 'X-Trace': '1' } })
    await stet.projects.list({ headers: { 'x-team': 'b', 'x-trace': null, 'user-agent': null } })
    expect(requests[0]?.headers['x-team']).toBe('b')
    expect(requests[0]?.headers).not.toHaveProperty('x-trace')
  })

  it('quotes If-Match, except *', async () => {
    const { url, requests } = await localServer(json({}))
    await client(url).prompts.delete('a', { ifMatch: 'abc' })
    await client(url).prompts.createOrUpdate('a', { prompt: 'x', ifMatch: '*' })
    expect(requests.map(({ headers }) => headers['if-match'])).toEqual(['"abc"', '*'])
  })

  it('rejects an invalid header value without quoting it', async () => {
    const error = await client('http://127.0.0.1:9')
      .me({ headers: { 'x-token': 'top\nsecret' } })
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toContain('x-token')
    expect(String(error)).not.toContain('secret')
  })
})

describe('the API key', () => {
  it('can be a function, which is called before each attempt', async () => {
    const { url, requests } = await localServer(json({}, 503, { 'retry-after-ms': '0' }), json([]))
    let asked = 0
    await client(url, { apiKey: async () => `key-${++asked}`, maxRetries: 1 }).projects.list()
    expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-1', 'Bearer key-2'])
  })

  it('is read from the environment', async () => {
    const { url, requests } = await localServer(json([]))
    vi.stubEnv('STET_API_KEY', ' from-env ')
    vi.stubEnv('STET_BASE_URL', url)
    vi.stubEnv('STET_PROJECT_ID', '12')
    try {
      await new Stet().prompts.list()
    } finally {
      vi.unstubAllEnvs()
    }
    expect(requests[0]).toMatchObject({
      url: '/api/v3/projects/12/versions/live/documents',
      headers: { authorization: 'Bearer from-env' },
    })
  })

  it('null sends no Authorization header, not even with a key in the environment', async () => {
    const { url, requests } = await localServer(json([]))
    vi.stubEnv('STET_API_KEY', 'from-env')
    try {
      const stet = client(url, { apiKey: null })
      await stet.project(4).prompts.list()
      await stet.withOptions({ apiKey: 'own' }).prompts.list()
      await client(url).withOptions({ apiKey: null }).versions.create('a')
    } finally {
      vi.unstubAllEnvs()
    }
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer own', undefined])
  })

  it('an undefined key does not override the other options', async () => {
    const { url, requests } = await localServer(json([]))
    const unset = process.env['STET_NO_SUCH_KEY'] as string
    const options = { baseUrl: url, projectId: 3, maxRetries: 0 }
    vi.stubEnv('STET_API_KEY', 'from-env')
    try {
      await new Stet(unset, options).prompts.list()
      await new Stet(unset, options).project(4).prompts.list()
      await new Stet(unset, { ...options, apiKey: 'beside' }).prompts.list()
    } finally {
      vi.unstubAllEnvs()
    }
    expect(requests.map((request) => request.url.split('/')[4])).toEqual(['3', '4', '3'])
    expect(requests[2]?.headers['authorization']).toBe('Bearer beside')
  })

  it('an invalid log level is rejected, from the option or the environment', () => {
    expect(() => new Stet({ logLevel: 'loud' as 'warn' })).toThrow(/STET_LOG.* must be one of off, error, warn/)
    vi.stubEnv('STET_LOG', 'loud')
    try {
      expect(() => new Stet()).toThrow(ConfigurationError)
      expect(() => new Stet({ logLevel: 'off' })).not.toThrow()
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it.each([
    ['absent', undefined, /STET_API_KEY/],
    ['empty', '', /STET_API_KEY/],
    ['with a line break', 'stet_secret\nX-Other: 1', /characters/],
    ['a function that fails', () => Promise.reject(new Error('vault')), /apiKey function/],
  ])('%s: rejects before any request', async (_, apiKey, message) => {
    const { url, requests } = await localServer(json([]))
    const { apiKey: _omitted, ...rest } = { apiKey: '', baseUrl: url, logLevel: 'off' as const }
    const error = await new Stet({ ...rest, ...(apiKey !== undefined && { apiKey }) }).me().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain('secret')
    expect(requests).toHaveLength(0)
  })

  it('never appears in hooks, errors or logs', async () => {
    const { url } = await localServer(json({ message: 'no' }, 401))
    const seen: unknown[] = []
    const log = (...args: unknown[]) => void seen.push(args)
    const stet = client(url, {
      logLevel: 'debug',
      logger: { error: log, warn: log, info: log, debug: log },
      hooks: { onRequest: (c) => log(c.url, [...c.headers]), onResponse: log, onError: log },
    })
    const error = await stet.me().catch((e: unknown) => e)
    expect(seen.length).toBeGreaterThan(3)
    expect(JSON.stringify([seen, error, String(error)])).not.toContain('stet_secret')
  })

  it('is not sent to /health, which is outside the prefix', async () => {
    const { url, requests } = await localServer(json({ status: 'ok', version: '1', features: [] }))
    await expect(client(url).health()).resolves.toMatchObject({ status: 'ok' })
    expect(requests[0]).toMatchObject({ url: '/health' })
    expect(requests[0]?.headers).not.toHaveProperty('authorization')
  })
})

describe('scope', () => {
  it('of the call overrides project() and the constructor', async () => {
    const { url, requests } = await localServer(json([]))
    const stet = client(url)
    await stet.prompts.list()
    await stet.project(8).version('v1').prompts.list()
    await stet.project(8).prompts.list({ projectId: 9, versionUuid: 'v2', prefix: 'a/' })
    expect(requests.map((r) => r.url)).toEqual([
      '/api/v3/projects/7/versions/live/documents',
      '/api/v3/projects/8/versions/v1/documents',
      '/api/v3/projects/9/versions/v2/documents?prefix=a%2F',
    ])
  })

  it('a missing project rejects before any request and names the option and variable', async () => {
    const stet = new Stet({ apiKey: 'k', baseUrl: 'http://127.0.0.1:9', logLevel: 'off' })
    await expect(stet.prompts.get('a')).rejects.toThrow(/projectId.*STET_PROJECT_ID/)
    await expect(stet.prompts.run('a')).rejects.toBeInstanceOf(ConfigurationError)
    await expect(stet.prompts.get('../a', { projectId: 1 })).rejects.toBeInstanceOf(ConfigurationError)
  })
})

describe('responses', () => {
  it('include the response, request id and rate limit on demand', async () => {
    const headers = {
      'X-Request-Id': 'req_9',
      'X-RateLimit-Limit': '166',
      'X-RateLimit-Remaining': '165',
      'X-RateLimit-Reset': '1767322800123',
    }
    const { url } = await localServer(json([], 200, headers))
    const call = client(url).projects.list()
    const { data, requestId, rateLimit, response } = await call.withResponse()
    expect(data).toEqual([])
    expect(requestId).toBe('req_9')
    expect(rateLimit).toEqual({ limit: 166, remaining: 165, resetAt: new Date(1767322800123) })
    expect(await response.json()).toEqual([])
    expect(await (await call.asResponse()).text()).toBe('[]')
    expect(await call.then((list) => list.length)).toBe(0)
  })

  it('a prompt includes its source', async () => {
    const { url } = await localServer(json({ path: 'a' }))
    const now = Date.parse('2026-01-02T03:04:05Z')
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    expect(await client(url).prompts.get('a')).toMatchObject({ path: 'a', source: 'network', fetchedAt: now })
  })

  it('a login page with status 200 is an error', async () => {
    const { url } = await localServer(text('<html>Sign in</html>', 200, { 'Content-Type': 'text/html' }))
    const error = await client(url)
      .projects.list()
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ errorCode: 'invalid_response', serverResponse: '<html>Sign in</html>' })
    await expect(client(url).prompts.run('a')).rejects.toMatchObject({ errorCode: 'invalid_response' })
  })

  it.each([301, 302, 307])('a redirect (%i) is followed only by reads', async (status) => {
    const { url, requests } = await localServer((response, request) => {
      if (request.url.endsWith('/there')) json([])(response, request)
      else response.writeHead(status, { Location: `${request.url}/there` }).end()
    })
    const stet = new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off' })
    expect(await stet.versions.list()).toEqual([])
    const refusal = { name: 'ApiError', status, retryable: false }
    await expect(stet.versions.create('draft')).rejects.toMatchObject(refusal)
    await expect(stet.prompts.run('a')).rejects.toMatchObject(refusal)
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST', 'POST'])
  })

  it('request() calls any route below the prefix', async () => {
    const { url, requests } = await localServer(json({ ok: true }))
    const stet = client(url)
    await expect(stet.request<{ ok: boolean }>('GET', '/things', { query: { a: 1 } })).resolves.toEqual({ ok: true })
    await stet.request('POST', 'things', { body: { b: 2 } })
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/api/v3/things?a=1' })
    expect(requests[1]).toMatchObject({ method: 'POST', url: '/api/v3/things', body: { b: 2 } })
  })
})

describe('no response', () => {
  it('a closed port is a ConnectionError that names the address and reason', async () => {
    const error = await client('http://127.0.0.1:9')
      .me()
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(String(error)).toMatch(/http:\/\/127\.0\.0\.1:9 .*(ECONNREFUSED|bad port)/)
  })

  it('a silent server is a TimeoutError, even in the middle of a body', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const reached = deferred<void>()
    const begun = deferred<void>()
    const { url } = await localServer(
      () => reached.resolve(),
      (response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"a":')
      },
    )
    const stet = client(url, { hooks: { onResponse: () => begun.resolve() } })
    for (const isSilent of [reached, begun]) {
      const refused = expect(stet.me({ timeout: 30 })).rejects.toBeInstanceOf(TimeoutError)
      await isSilent.promise
      vi.advanceTimersByTime(30)
      await refused
    }
  })

  it('the signal aborts, before and during the request', async () => {
    const controller = new AbortController()
    const { url, requests } = await localServer(() => controller.abort(new Error('enough')))
    const error = await client(url)
      .me({ signal: controller.signal })
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(AbortError)
    expect(error).toMatchObject({ name: 'AbortError', cause: new Error('enough') })
    await expect(client(url).me({ signal: controller.signal })).rejects.toBeInstanceOf(AbortError)
    expect(requests).toHaveLength(1)
  })

  it('a push sends the changes as they were at the call', async () => {
    const { url, requests } = await localServer(json({}))
    const changes = [{ path: 'a', status: 'added' as const, content: 'Hello' }]
    const pushed = client(url).versions.push('v1', changes)
    changes.length = 0
    await pushed
    expect(requests[0]?.body).toEqual({ changes: [{ path: 'a', status: 'added', content: 'Hello' }] })
  })

  it('a body that is not JSON is rejected before any request', async () => {
    const stet = client('http://127.0.0.1:9')
    await expect(stet.request('POST', '/a', { body: 1n })).rejects.toBeInstanceOf(ConfigurationError)
  })
})

it('an exception in a hook changes nothing', async () => {
  const { url } = await localServer(json([]))
  const error = vi.fn()
  const logger = { error, warn: error, info: error, debug: error }
  const hooks = {
    onRequest: () => {
      throw new Error('broken hook')
    },
  }
  await expect(client(url, { hooks, logger, logLevel: 'error' }).projects.list()).resolves.toEqual([])
  expect(error).toHaveBeenCalledTimes(1)
})

it('rejects an API key in a page', () => {
  vi.stubGlobal('window', {})
  vi.stubGlobal('document', {})
  try {
    expect(() => new Stet('k')).toThrow(/dangerouslyAllowBrowser/)
    expect(new Stet({ apiKey: null }).baseUrl).toBe('http://127.0.0.1:8787/api/v3')
    expect(new Stet('k', { dangerouslyAllowBrowser: true }).baseUrl).toBe('http://127.0.0.1:8787/api/v3')
    expect(() => new Stet()).not.toThrow()
  } finally {
    vi.unstubAllGlobals()
  }
})
