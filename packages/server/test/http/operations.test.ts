/** Walks the operator routes: each succeeds, returns every declared error, and lists its methods. */
import { get } from 'node:http'
import {
  API_PREFIX,
  ErrorBody,
  type ErrorCause,
  listRoutes,
  type OperatorRouteName,
  operatorRoutes,
  statusOf,
} from '@stet/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { type ApiAnswer, apiCaller, httpCall } from './api-call.ts'
import { causeOf } from './declared-answers.ts'
import { openServer } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const names = Object.keys(operatorRoutes) as OperatorRouteName[]
const token = { authorization: 'Bearer figures' }

let server: TestServer
const { server: open } = await sharedServer()
beforeAll(async () => {
  ;({ server } = await openServer({
    STET_METRICS_TOKEN: 'figures',
    STET_LOG_LEVEL: 'off',
    STET_CONSOLE: 'off',
    STET_MCP: 'off',
    STET_OPENAI_API: 'off',
  }))
})
afterAll(() => server.close())

const ask = (method: string, name: OperatorRouteName, headers: Record<string, string> = {}) =>
  httpCall(method, `${server.url}${operatorRoutes[name].path}`, {
    headers: { ...(name === 'metrics' && token), ...headers },
  })

it("has no routes for OpenAI's clients with STET_OPENAI_API=off", async () => {
  const answer = await httpCall('GET', `${server.url}/v1/models`, { headers: { authorization: 'Bearer none' } })
  expect(answer).toMatchObject({
    status: 404,
    body: { reason: 'unknown-route', message: 'Route not found: GET /v1/models' },
  })
})

const refusals: Record<string, () => Promise<ApiAnswer>> = {
  'metrics no-key': () => httpCall('GET', `${server.url}/metrics`),
  'metrics wrong-metrics-token': () => ask('GET', 'metrics', { authorization: 'Bearer figure' }),
  // Behind a proxy, no caller counts as local.
  'metrics metrics-loopback-only': () =>
    httpCall('GET', `${open.url}/metrics`, { headers: { 'x-forwarded-for': '127.0.0.1' } }),
  'ready not-ready': async () => {
    const delayMs = 60_000
    const { server: stopping } = await openServer({ STET_DRAIN_DELAY_MS: String(delayMs) })
    // Ends the shutdown delay when the response has arrived, however long that takes.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closed = stopping.close()
    const answer = await httpCall('GET', `${stopping.url}/ready`).finally(() => {
      vi.advanceTimersByTime(delayMs)
      vi.useRealTimers()
    })
    await closed
    return answer
  },
}

function expectRefusal(status: number, answer: ApiAnswer): void {
  expect(answer.status, answer.text).toBe(status)
  expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  if (status === 401) expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  if (status === 503) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
}

it('refuses metrics without a token to a request that a proxy forwarded', async () => {
  const answer = await httpCall('GET', `${open.url}/metrics`, { headers: { forwarded: 'for=192.0.2.1' } })
  expectRefusal(403, answer)
})

it('warns once of a proxy that STET_TRUST_PROXY does not count', async () => {
  const events: string[] = []
  const { logger } = server.deps
  const { warn } = logger
  logger.warn = (event) => events.push(event)
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  for (let count = 0; count < 2; count += 1) await httpCall('GET', `${server.url}/health`, { headers })
  logger.warn = warn
  expect(events).toEqual(['server.proxy-not-trusted'])
})

it('every declared refusal has a test', () => {
  const declared = names.flatMap((name) => operatorRoutes[name].errors.map((cause) => `${name} ${cause}`))
  expect(Object.keys(refusals).sort()).toEqual(declared.sort())
})

describe.each(names)('%s', (name) => {
  const { path, contentType, errors } = operatorRoutes[name]

  it('succeeds without an API key and without a rate limit', async () => {
    const answer = await ask('GET', name)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers.get('content-type')?.split(';')[0]).toBe(contentType)
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(answer.headers.has('x-ratelimit-limit')).toBe(false)
  })

  it('responds to HEAD like GET, without the body', async () => {
    const [head, get] = [await ask('HEAD', name), await ask('GET', name)]
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  })

  it('returns 405 with the allowed methods for every other method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await ask(method, name)
      expectRefusal(405, answer)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
      expect(answer.body).toMatchObject({ name: 'MethodNotAllowedError', details: { allow: ['GET', 'HEAD'] } })
    }
  })

  it('returns 404 for a similar URL', async () => {
    for (const other of [`${path}/x`, `${path}x`, path.toUpperCase(), `/api${path}`]) {
      const answer = await httpCall('GET', `${server.url}${other}`, { headers: token })
      expectRefusal(404, answer)
      expect(answer.body).toMatchObject({ reason: 'unknown-route', details: {} })
    }
  })

  for (const cause of errors as readonly ErrorCause[]) {
    const status = statusOf(cause)
    it(`${status} ${cause}`, async () => {
      const refuse = refusals[`${name} ${cause}`]
      expect(refuse, `${name} declares ${cause}, which no test produces`).toBeDefined()
      if (!refuse) return
      const answer = await refuse()
      expectRefusal(status, answer)
      if (cause === 'not-ready') expect(answer.body.details).toMatchObject({ checks: { accepting: false } })
      expect(causeOf(answer.body), answer.text).toBe(cause)
    })
  }
})

describe('responses', () => {
  it('/health returns status, version and features', async () => {
    expect((await ask('GET', 'health')).body).toEqual({
      status: 'ok',
      version: expect.any(String),
      features: expect.arrayContaining(['stream', 'releases']),
    })
  })

  it('/ready reports that the server accepts work', async () => {
    expect((await ask('GET', 'ready')).body).toEqual({ status: 'ready' })
  })

  it('/metrics returns requests by route, without a token on loopback if none is configured', async () => {
    await apiCaller(server.url, server.adminKey)('GET', '/me')
    expect((await ask('GET', 'metrics')).text).toMatch(
      /^stet_http_requests_total\{method="GET",route="\/me",status="200"\} 1$/m,
    )
    expect((await httpCall('GET', `${open.url}/metrics`)).status).toBe(200)
  })

  it('/openapi.json returns the contract', async () => {
    const { body } = await ask('GET', 'openapi')
    expect(body['openapi']).toMatch(/^3\.1/)
    for (const { path } of Object.values(operatorRoutes)) expect(body['paths']).toHaveProperty([path])
  })

  it('without the console, / redirects to the reference, and its pages do not exist', async () => {
    for (const path of ['/sign-in', '/p/1']) expect((await httpCall('GET', server.url + path)).status).toBe(404)
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${server.url}/`, { method, redirect: 'manual' })
      expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
        status: 302,
        location: '/docs',
      })
    }
    expect((await fetch(`${server.url}/`)).url).toBe(`${server.url}/docs`)
    expect((await httpCall('POST', `${server.url}/`)).status).toBe(404)
  })

  it('/llms.txt lists every route with its full path', async () => {
    const { text } = await ask('GET', 'llms')
    expect(text).toMatch(/^# stet \d/)
    for (const { route } of listRoutes()) {
      const path = `${API_PREFIX}${route.path.replace(/:(\w+)/g, '{$1}')}`
      expect(text).toContain(`- \`${route.method} ${path}\`: `)
    }
    for (const { path } of Object.values(operatorRoutes)) expect(text).toContain(`- \`GET ${path}\`: `)
  })

  it('/docs allows scripts of this server only, and no inline script', async () => {
    const { headers, text } = await ask('GET', 'docs')
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((rule): [string, string] => {
        const [name = '', ...sources] = rule.split(' ')
        return [name, sources.join(' ')]
      }),
    )
    expect(Object.fromEntries(policy)).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': expect.stringMatching(/^('sha256-[\w+/]{43}=' ?)+$/),
      'connect-src': "'self'",
      'img-src': 'data:',
      'frame-ancestors': "'none'",
    })
    expect(text).not.toMatch(/<script>|<style|style="|\son\w+=|https?:/)
    for (const name of ['openapi.json', 'llms.txt']) expect(text).toContain(`href="${name}"`)
  })

  it.each(['openapi', 'llms', 'docs'] as const)('every page that %s links to is served', async (name) => {
    const { text } = await ask('GET', name)
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|href="(?!data:)([^"]+)"/g)].map(
      ([, first, second]) => first ?? second ?? '',
    )
    expect(links.length).toBeGreaterThan(0)
    for (const link of new Set(links)) {
      const answer = await fetch(new URL(link, `${server.url}/docs`))
      expect([link, answer.status]).toEqual([link, 200])
    }
    expect((await (await fetch(`${server.url}/docs/errors.md`)).text()).split('\n')).toContain('# Errors')
  })

  it('/docs loads one script, which a browser keeps', async () => {
    const source = /<script src="([^"]+)">/.exec((await ask('GET', 'docs')).text)?.[1] ?? ''
    const answer = await fetch(new URL(source, `${server.url}/docs`))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(Number(answer.headers.get('content-length'))).toBeLessThan(1_400_000)
    const unnamed = await fetch(`${server.url}/docs/reference.js`)
    expect(unnamed.headers.get('cache-control')).toBe('no-store')
    expect((await unnamed.text()) === (await answer.text())).toBe(true)
    expect((await httpCall('POST', `${server.url}/docs/reference.js`)).status).toBe(405)
  })

  it('the script is only sent compressed, also to a client that names no encoding', async () => {
    const script = (acceptEncoding?: string) =>
      new Promise<{ status: number; encoding: string | undefined; bytes: number; text: string }>((resolve, reject) => {
        const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
        get(`${server.url}/docs/reference.js`, { headers }, async (res) => {
          const chunks: Buffer[] = []
          for await (const chunk of res) chunks.push(chunk as Buffer)
          const body = Buffer.concat(chunks)
          const encoding = res.headers['content-encoding']
          resolve({ status: res.statusCode ?? 0, encoding, bytes: body.length, text: body.toString('latin1') })
        }).on('error', reject)
      })
    for (const accepted of [undefined, 'gzip', 'br, *;q=0.1', 'gzip;q=0.5, identity']) {
      const { status, encoding, bytes } = await script(accepted)
      expect({ status, encoding }, accepted).toEqual({ status: 200, encoding: 'gzip' })
      expect(bytes).toBeLessThan(1_400_000)
    }
    for (const accepted of ['identity', '', 'br', 'gzip;q=0, *']) {
      const refused = await script(accepted)
      expect(refused, accepted).toMatchObject({ status: 406, encoding: undefined })
      expect(JSON.parse(refused.text)).toMatchObject({ reason: 'compressed-only' })
    }
  })

  it.each(['openapi', 'llms', 'docs'] as const)('%s is sent plain or compressed', async (name) => {
    const plain = await ask('GET', name, { 'accept-encoding': 'identity' })
    const packed = await ask('GET', name, { 'accept-encoding': 'gzip' })
    expect(plain.headers.has('content-encoding')).toBe(false)
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    for (const { headers } of [plain, packed]) expect(headers.get('vary')).toBe('Accept-Encoding')
    expect(packed.text).toBe(plain.text)
  })
})

it('has no trace of MCP where it is off', async () => {
  const { status, body } = await httpCall('POST', `${server.url}/mcp`, { body: {} })
  expect([status, body['reason']]).toEqual([404, 'unknown-route'])
})
