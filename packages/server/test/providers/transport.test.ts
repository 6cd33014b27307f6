/** The shared transport: connections, limits, retries, aborts, headers. Each is shown with one protocol. */
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelChunk, ProviderSettings } from '../../src/features/providers/model-driver.ts'
import { ProviderError } from '../../src/features/providers/provider-error.ts'
import { type FakeProvider, type FakeReplyFor, fakeProvider } from '../support/fake-provider.ts'
import { testDrivers } from '../support/model-drivers.ts'
import {
  callOf,
  chunksOf,
  failureOf,
  modelRequest,
  providerAt,
  type TestRequest,
  textOf,
} from '../support/model-request.ts'

const drivers = testDrivers()
afterAll(() => drivers.close())

let fake: FakeProvider
beforeEach(async () => {
  fake = await fakeProvider()
})
afterEach(() => fake.close())

const ask = (more: Partial<TestRequest> = {}, by = drivers.patient) => {
  const request = modelRequest(fake.url, more)
  return callOf(by.driverFor(request.provider), request)
}

it('accepts a plain answer to a streamed request', async () => {
  fake.enqueue({ status: 200, body: { choices: [{ index: 0, message: { content: 'plain' }, finish_reason: 'stop' }] } })
  expect(textOf(await chunksOf(ask()))).toBe('plain')
})

it('reuses connections and opens a second one only while the first is busy', async () => {
  for (let calls = 0; calls < 8; calls += 1) await chunksOf(ask())
  expect(fake.connections).toBeLessThanOrEqual(2)
})

describe('failures', () => {
  const refusal = { error: { message: 'Incorrect API key: test-token-123. Also sk-abcdefgh12345678.' } }
  const cases: [string, FakeReplyFor, Partial<ProviderError>][] = [
    ['a text body', { status: 400, body: 'nope' }, { kind: 'rejected', status: 400, providerMessage: 'nope' }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'rejected', status: 302 }],
    ['Retry-After', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'rate_limited', retryAfterMs: 7000 }],
    ['500', { status: 500 }, { kind: 'unavailable', status: 500 }],
    ['secrets in a message', { status: 401, body: refusal }, { providerMessage: 'Incorrect API key: ***. Also ***.' }],
    ['a page in another encoding', { status: 503, raw: [Buffer.from('überlastet', 'latin1')] }, { status: 503 }],
    ['a truncated page', { status: 400, raw: ['{"error"'], end: 'broken' }, { kind: 'rejected', status: 400 }],
    ['a hang before the head', { hang: 'before-head' }, { kind: 'timeout' }],
    ['a hang after the head', { hang: 'after-head' }, { kind: 'timeout' }],
    ['a hang mid-stream', { text: 'a b c', hang: 'mid-stream' }, { kind: 'timeout' }],
    ['an oversized head', { status: 200, headers: { 'x-large': 'x'.repeat(70_000) } }, { kind: 'malformed' }],
  ]
  it.each(cases)('reports %s', async (_name, reply, expected) => {
    fake.enqueue(reply)
    const failure = await failureOf(ask({ maxRetries: 0 }, drivers.forReply(reply)))
    expect(failure).toBeInstanceOf(ProviderError)
    expect(failure).toMatchObject(expected)
  })

  it('reports a plain answer that is too large', async () => {
    fake.enqueue({ text: 'x'.repeat(6000) })
    expect(await failureOf(ask({ stream: false }))).toMatchObject({ kind: 'malformed' })
  })

  it('reports an address that refuses connections', async () => {
    // No other process can listen on this port.
    const provider = providerAt('http://127.0.0.1:1/v1')
    expect(await failureOf(ask({ provider, maxRetries: 0 }))).toMatchObject({ kind: 'unavailable' })
  })
})

describe('retries', () => {
  it.each([408, 409, 429, 500, 503])('happen on %i, up to the configured count', async (status) => {
    fake.enqueue({ status }, { status }, { text: 'late' })
    expect(textOf(await chunksOf(ask({ maxRetries: 2 })))).toBe('late')
    expect(fake.requests).toHaveLength(3)
  })

  it.each([400, 401, 404, 422])('never happen on %i', async (status) => {
    fake.enqueue({ status })
    await failureOf(ask({ maxRetries: 2 }))
    expect(fake.requests).toHaveLength(1)
  })

  it('happen on connections that are reset before the first byte', async () => {
    fake.enqueue({ reset: true }, { reset: true }, { text: 'at last' }, { reset: true })
    expect(textOf(await chunksOf(ask({ maxRetries: 2 })))).toBe('at last')
    expect(await failureOf(ask({ maxRetries: 0 }))).toMatchObject({ kind: 'unavailable' })
  })

  it('wait for Retry-After, and give up immediately if it exceeds a minute', async () => {
    fake.enqueue({ status: 429, headers: { 'retry-after-ms': '80' } }, { text: 'late' })
    const start = performance.now()
    expect(textOf(await chunksOf(ask({ maxRetries: 1 })))).toBe('late')
    expect(performance.now() - start).toBeGreaterThanOrEqual(75)
    fake.enqueue({ status: 429, headers: { 'retry-after': '61' } })
    expect(await failureOf(ask({ maxRetries: 5 }))).toMatchObject({ retryAfterMs: 61_000 })
    expect(fake.requests).toHaveLength(3)
  })

  it('do not happen after the first byte', async () => {
    fake.enqueue({ text: 'a b', cut: 1 }, { hang: 'after-head' })
    await failureOf(ask({ maxRetries: 2 }))
    await failureOf(ask({ maxRetries: 2 }, drivers.impatient))
    // The client may give up before the fake has read the request, which then arrives later.
    await fake.waitForRequest(2)
    expect(fake.requests).toHaveLength(2)
  })
})

describe('abort', () => {
  const reason = new Error('stop now')

  it.each(['before-head', 'after-head', 'mid-stream'] as const)(
    '%s: throws the reason and disconnects from the provider',
    async (hang) => {
      const controller = new AbortController()
      fake.enqueue({ text: 'a b', hang })
      const failure = failureOf(ask({ signal: controller.signal, maxRetries: 2 }))
      await fake.waitForRequest(1)
      controller.abort(reason)
      expect(await failure).toBe(reason)
      await fake.waitForAbort(1)
    },
  )

  it('works before the call and during the wait for a retry', async () => {
    expect(await failureOf(ask({ signal: AbortSignal.abort(reason) }))).toBe(reason)
    const controller = new AbortController()
    fake.enqueue({ status: 429, headers: { 'retry-after': '30' } })
    const failure = failureOf(ask({ signal: controller.signal, maxRetries: 1 }))
    await fake.waitForRequest(1)
    controller.abort(reason)
    expect(await failure).toBe(reason)
    expect(fake.requests).toHaveLength(1)
  })

  const now = () => {
    throw reason
  }
  it.each([
    ['later', () => Promise.reject(reason)],
    ['immediately', now],
  ])(
    'disconnects from the provider if the consumer fails, %s',
    async (_name, take: (chunks: ModelChunk[]) => Promise<void>) => {
      fake.enqueue({ text: 'a b', gate: new Promise(() => undefined) })
      await expect(ask()(take)).rejects.toBe(reason)
      await fake.waitForAbort(1)
      expect(fake.aborted).toBe(1)
    },
  )
})

describe('request', () => {
  const azure = (configuration: Record<string, unknown> = {}): Partial<ProviderSettings> => {
    return { kind: 'azure', configuration: { baseUrl: `http://127.0.0.1:${fake.port}/openai`, ...configuration } }
  }
  const versioned = { apiVersion: '2024-10-21' }
  const sentBy = async (entry: Partial<ProviderSettings>, more: Partial<TestRequest> = {}) => {
    await chunksOf(ask({ provider: providerAt(fake.url, entry), ...more }))
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = fake.requests[0]?.headers ?? {}
    return { path: fake.requests[0]?.path, headers }
  }
  const always = { 'user-agent': 'stet', accept: 'text/event-stream', 'accept-encoding': 'identity' }
  const json = { ...always, 'content-type': 'application/json' }

  it('has the headers of stet, the key and the prompt; none reveals the process or the machine', async () => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: of the process')
    vi.stubEnv('OPENAI_ORG_ID', 'of the process')
    const configuration = { headers: { 'X-Entry': '1' }, organization: 'org' }
    const { headers } = await sentBy({ configuration }, { settings: { headers: { 'X-Prompt': '2' } } })
    vi.unstubAllEnvs()
    const own = { 'openai-organization': 'org', 'x-entry': '1', 'x-prompt': '2' }
    expect(headers).toEqual({ ...json, ...own, authorization: 'Bearer test-token-123' })
  })

  it('has the key and the version for Anthropic, unless the prompt names another one', async () => {
    const entry = { kind: 'anthropic', configuration: { headers: { 'Anthropic-Beta': 'context-1m' } } }
    const own = { 'anthropic-version': '2030-01-01', 'anthropic-beta': 'context-1m', 'x-api-key': 'test-token-123' }
    expect(await sentBy(entry, { settings: { headers: { 'anthropic-version': '2030-01-01' } } })).toEqual({
      path: '/v1/messages',
      headers: { ...json, ...own },
    })
  })

  it('has the resource key for Azure, and no other', async () => {
    const { headers } = await sentBy(azure({ ...versioned, headers: { 'x-team': 't' } }))
    expect(headers).toEqual({ ...json, 'api-key': 'test-token-123', 'x-team': 't' })
  })

  const deployment = '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21'
  it.each<[string, Record<string, unknown>, string, string?]>([
    [deployment, versioned, '/openai'],
    ['/openai/chat/completions', {}, '/openai'],
    ['/openai/chat/completions', {}, '/openai', 'my model?x=1#ü'],
    [
      '/openai/responses?api-version=2025-03-01-preview',
      { endpoint: 'responses', apiVersion: '2025-03-01-preview' },
      '/openai',
    ],
    ['/openai/chat/completions?team=a', {}, '/openai/?team=a'],
    [deployment.replace('?', '?team=a&'), versioned, '/openai?team=a'],
    [deployment.replace('gpt-4o', 'mine'), versioned, '/openai/deployments/mine/'],
    [deployment.replace('gpt-4o', 'my%20model%3Fx%3D1%23%C3%BC'), versioned, '/openai', 'my model?x=1#ü'],
  ])('of Azure goes to %s with %j at %s', async (path, configuration, base, model = 'gpt-4o') => {
    const entry = azure({ ...configuration, baseUrl: `http://127.0.0.1:${fake.port}${base}` })
    expect((await sentBy(entry, { model })).path).toBe(path)
  })

  it.each(['../../x', '..', '.', 'a/b', 'a\\b'])(
    'of Azure is refused for the model %s, which would change the path',
    async (model) => {
      const provider = providerAt(null, azure(versioned))
      expect(await failureOf(ask({ provider, model }))).toMatchObject({ kind: 'misconfigured' })
      expect(fake.requests).toHaveLength(0)
    },
  )

  it('of Azure goes to no private network', async () => {
    const provider = providerAt(null, { ...azure(), trustedAddress: false })
    expect(await failureOf(ask({ provider }))).toMatchObject({ kind: 'misconfigured' })
    expect(fake.connections).toBe(0)
  })
})
