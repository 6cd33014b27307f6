import { describe, expect, it } from 'vitest'
import * as sdk from '../src/index.ts'
import { json, localServer, type Reply, text } from './support/local-server.ts'

const client = (url: string) =>
  new sdk.Stet({ apiKey: 'k', baseUrl: url, projectId: 7, maxRetries: 0, logLevel: 'off' })
const failing = async (...reply: Parameters<typeof text>) => {
  const { url } = await localServer(text(...reply))
  return client(url)
    .prompts.get('support/triagee')
    .catch((e: unknown) => e)
}

describe('the class depends on the status', () => {
  it.each([
    [400, sdk.BadRequestError],
    [401, sdk.UnauthorizedError],
    [403, sdk.ForbiddenError],
    [404, sdk.NotFoundError],
    [409, sdk.ConflictError],
    [412, sdk.ConflictError],
    [413, sdk.ApiError],
    [422, sdk.UnprocessableEntityError],
    [429, sdk.RateLimitError],
    [500, sdk.InternalServerError],
    [503, sdk.InternalServerError],
  ])('%i', async (status, type) => {
    const error = await failing(
      JSON.stringify({ name: 'X', message: 'm', errorCode: 'x_code', details: { a: 1 } }),
      status,
    )
    expect(error).toBeInstanceOf(type)
    expect((error as sdk.ApiError).constructor).toBe(type)
    expect(error).toMatchObject({
      name: type.name,
      status,
      errorCode: 'x_code',
      details: { a: 1 },
      attempts: 1,
      method: 'GET',
    })
  })
})

it('the message contains the status, resource and request id', async () => {
  const body = { name: 'NotFoundError', message: 'Document not found', errorCode: 'NotFoundError', details: {} }
  const { url } = await localServer(json(body, 404, { 'X-Request-Id': 'req_8f2c' }))
  const error = await client(url)
    .prompts.get('support/triagee')
    .catch((e: unknown) => e)
  expect(String(error)).toBe('NotFoundError: 404 Document not found (project 7, version live) [req_8f2c]')
  expect(error).toMatchObject({
    requestId: 'req_8f2c',
    url: `${url}/api/v3/projects/7/versions/live/documents/support/triagee`,
  })
})

describe('the reason comes from the details', () => {
  it.each([
    ['{"reason":"unknown-document"}', 'unknown-document'],
    ['{"reason":"a cause of a newer server"}', 'a cause of a newer server'],
    ['{"reason":5}', undefined],
    ['{"details":{}}', undefined],
    ['{"details":"text"}', undefined],
    ['{"details":null}', undefined],
    ['{}', undefined],
  ])('%s', async (body, reason) => {
    expect(await failing(body, 404)).toHaveProperty('reason', reason)
  })
})

describe('bodies from other servers', () => {
  it('HTML from a proxy', async () => {
    const error = await failing(`<html>${'x'.repeat(9000)}</html>`, 502, { 'Content-Type': 'text/html' })
    expect(error).toBeInstanceOf(sdk.InternalServerError)
    expect(error).toMatchObject({
      status: 502,
      errorCode: 'InternalServerError',
      message: '502 Bad Gateway',
      retryable: true,
    })
    expect((error as sdk.ApiError).serverResponse).toHaveLength(2048)
  })

  it('an empty body', async () => {
    expect(await failing('', 500)).toMatchObject({
      status: 500,
      message: '500 Internal Server Error',
      serverResponse: '',
      details: {},
    })
  })

  it('{error: {message}}', async () => {
    const error = await failing('{"error":{"message":"Conversation not found"}}', 404, { 'X-Request-Id': 'req_1' })
    expect(error).toMatchObject({
      name: 'NotFoundError',
      message: '404 Conversation not found (project 7, version live) [req_1]',
    })
  })

  it.each(['null', '[]', '"text"', '{"message":5,"error":null}', '{'])('%s', async (body) => {
    expect(await failing(body, 400)).toMatchObject({ name: 'BadRequestError', message: '400 Bad Request' })
  })
})

it('429 includes the rate limit', async () => {
  const reset = Date.now() + 800
  const headers = {
    'X-RateLimit-Limit': '10',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(reset),
    'Retry-After': '1',
  }
  const error = await failing('{}', 429, headers)
  expect(error).toMatchObject({ rateLimit: { limit: 10, remaining: 0, resetAt: new Date(reset), retryAfterMs: 1000 } })
})

it('a failed JSON run rejects with RunError, its code and conversation', async () => {
  const details = { errorCode: 'missing_provider_error', conversationUuid: 'c-1', provider: 'x' }
  const body = { name: 'DocumentRunError', message: 'No provider x', errorCode: 'missing_provider_error', details }
  const { url } = await localServer(json(body, 422))
  const seen: unknown[] = []
  const error = await client(url)
    .prompts.run('a', { stream: false, onError: (e) => seen.push(e) })
    .catch((e: unknown) => e)
  expect(error).toBeInstanceOf(sdk.RunError)
  expect(error).toBeInstanceOf(sdk.ApiError)
  expect(error).toMatchObject({ status: 422, errorCode: 'missing_provider_error', conversationUuid: 'c-1', details })
  expect(seen).toEqual([error])
})

it('a server warning is logged', async () => {
  const warnings: unknown[] = []
  const logger = { ...console, warn: (...said: unknown[]) => void warnings.push(said) }
  const { url } = await localServer(json({}, 200, { 'X-Stet-Warning': 'unknown parameter "tickt"' }))
  const options = { apiKey: 'k', baseUrl: url, projectId: 7, logger, logLevel: 'warn' } as const
  await new sdk.Stet(options).prompts.run('support/reply', { stream: false })
  expect(warnings).toEqual([['[stet] prompts.run support/reply: unknown parameter "tickt"']])
})

describe('the message of a failed run', () => {
  const failed = async (errorCode: string, message: string, details: object, stream: boolean) => {
    const body = { name: 'DocumentRunError', message, errorCode, details: { errorCode, ...details } }
    const error = { ...body, code: errorCode }
    const frame = { type: 'chain-error', error, messages: [], tokenUsage: {}, cost: 0, uuid: 'c-1' }
    const sse = `id: 0\nevent: latitude-event\ndata: ${JSON.stringify(frame)}\n\n`
    const { url } = await localServer(
      stream ? text(sse, 200, { 'Content-Type': 'text/event-stream' }) : json(body, 422, { 'X-Request-Id': 'req_1' }),
    )
    return client(url)
      .prompts.run('support/reply', { stream })
      .catch((e: unknown) => e)
  }
  const answered = 'The provider answered with status 401'
  const provider = 'openai'

  it.each([true, false])('names the provider, status, provider message and prompt (stream: %s)', async (stream) => {
    const details = { provider, status: 401, providerMessage: 'Incorrect API key provided.' }
    const error = await failed('ai_run_error', answered, details, stream)
    expect(error).toBeInstanceOf(sdk.RunError)
    const sentence = 'openai: 401 Incorrect API key provided (prompt support/reply)'
    expect((error as Error).message).toBe(stream ? sentence : `${sentence} [req_1]`)
    expect(error).toMatchObject({ status: 422, details })
    expect(error).not.toHaveProperty('prompt')
  })

  it.each([
    ['ai_run_error', { provider }, 'openai: The provider answered with status 401'],
    ['ai_run_error', { provider, providerMessage: 'Overloaded' }, 'openai: Overloaded'],
    ['rate_limit_error', { provider, status: 429, providerMessage: 'Slow\n\tdown' }, 'openai: 429 Slow down'],
    ['ai_run_error', { provider, status: 400, providerMessage: 'a\u001b[31mb\u009b\u0007c' }, 'openai: 400 a [31mb c'],
    ['missing_provider_error', { provider }, answered],
    ['ai_run_error', {}, answered],
  ])('%s %j', async (errorCode, details, sentence) => {
    const error = (await failed(errorCode, answered, details, false)) as Error
    expect(error.message).toBe(`${sentence} (prompt support/reply) [req_1]`)
  })

  it('is truncated if the provider message is long', async () => {
    const error = (await failed(
      'ai_run_error',
      '',
      { provider, status: 500, providerMessage: '\u{1f600}'.repeat(2000) },
      true,
    )) as Error
    expect([...error.message].length).toBeLessThan(550)
    expect(error.message).toMatch(/\u{1f600}… \(prompt support\/reply\)$/u)
  })
})

describe('brands', () => {
  it('instanceof works across two copies of the package, for each class', async () => {
    // The query makes the loader evaluate the module again.
    const path = '../src/errors.ts?copy'
    const copy = (await import(path)) as typeof sdk
    expect(copy.StetError).not.toBe(sdk.StetError)
    const theirs = new copy.TimeoutError('late')
    expect(theirs).toBeInstanceOf(sdk.TimeoutError)
    expect(theirs).toBeInstanceOf(sdk.ConnectionError)
    expect(theirs).not.toBeInstanceOf(sdk.ApiError)
    expect(sdk.StetError.isInstance(theirs)).toBe(true)
  })

  it('a subclass in an application uses the prototype chain', () => {
    class Mine extends sdk.ConfigurationError {}
    expect(new Mine('m')).toBeInstanceOf(Mine)
    expect(new Mine('m')).toBeInstanceOf(sdk.StetError)
    expect(new sdk.ConfigurationError('m')).not.toBeInstanceOf(Mine)
  })

  it.each([undefined, null, 'text', {}, new Error('x')])('%s is not a StetError', (value) => {
    expect(sdk.StetError.isInstance(value)).toBe(false)
  })
})

describe('a server other than stet', () => {
  /** Answers as another service would: `health` for /health, and `other` for everything else. */
  const host = async (other: Reply, health: Reply) => {
    const server = await localServer((response, request) =>
      (request.url === '/app/health' ? health : other)(response, request),
    )
    const stet = client(`${server.url}/app`)
    return {
      ...server,
      stet,
      message: (status: number) => `${server.url}/app: this is no stet server (GET /health answered ${status})`,
    }
  }
  const page = text('<h1>Hello</h1>', 200, { 'Content-Type': 'text/html' })
  const stetHealth = json({ status: 'ok', version: '0.1.0', features: [] })

  it.each([
    ['404 in text', text('Cannot GET', 404), text('Cannot GET', 404), 404],
    ['404 in JSON', json({ detail: 'Not Found' }, 404), json({ detail: 'Not Found' }, 404), 404],
    ['405', text('', 405), text('', 404), 404],
    ['a page for every path', page, page, 200],
    ['a page, and a health route of its own', page, json({ status: 'UP' }), 200],
  ])('%s', async (_, other, health, status) => {
    const { stet, message, requests } = await host(other, health)
    const calls = [
      () => stet.prompts.get('a'),
      () => stet.prompts.run('a'),
      () => stet.prompts.run('a', { stream: false }),
    ]
    for (const call of calls) {
      const error = await call().then(
        () => undefined,
        (e: unknown) => e as sdk.ApiError,
      )
      expect(error).toBeInstanceOf(sdk.ApiError)
      expect(error?.message).toContain(message(status))
      // The console prints the stack.
      expect(error?.stack).toContain(message(status))
      expect(error).toMatchObject({ attempts: 1, method: expect.any(String), serverResponse: expect.any(String) })
    }
    const asked = requests.filter(({ url }) => url === '/app/health')
    expect(asked).toHaveLength(3)
    for (const { headers } of asked) expect(headers).not.toHaveProperty('authorization')
  })

  it('a server at the root of the address is named', async () => {
    const server = await localServer((response, request) =>
      (request.url === '/health' ? stetHealth : text('', 404))(response, request),
    )
    await expect(client(`${server.url}/app`).prompts.get('a')).rejects.toThrow(
      `${server.url}/app: this is no stet server (GET /health answered 404). A stet server answers at ${server.url}: set baseUrl to it`,
    )
  })

  it.each([
    ['stet without request ids', text('gone', 404), stetHealth],
    ['a gateway that wants a login', text('', 404), text('', 401)],
    ['a gateway without a server', text('', 404), text('', 502)],
    ['a health route that hangs up', text('', 404), (response) => void response.destroy()],
  ] as [string, Reply, Reply][])('nothing is claimed about %s', async (_, other, health) => {
    const { stet } = await host(other, health)
    await expect(stet.prompts.get('a')).rejects.toThrow(/^404 Not Found/)
  })

  it.each([
    ['an error of stet', json({ name: 'NotFoundError', message: 'm', errorCode: 'NotFoundError', details: {} }, 404)],
    ['a response with a request id', text('', 404, { 'X-Request-Id': 'r' })],
    ['a failing server', text('', 500)],
  ])('%s causes no further request', async (_, other) => {
    const { stet, requests } = await host(other, page)
    await expect(stet.prompts.get('a')).rejects.toThrow()
    expect(requests).toHaveLength(1)
  })
})
