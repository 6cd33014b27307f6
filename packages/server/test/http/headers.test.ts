import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { httpCall } from './api-call.ts'
import { parseRaw, sendRaw } from './raw-http.ts'
import { type Api, openServer } from './scenario.ts'

let server: TestServer
let api: Api
const origin = 'https://app.example.com'

beforeAll(async () => {
  ;({ server, api } = await openServer({ STET_CORS_ORIGINS: origin }))
})
afterAll(() => server.close())

it('keeps a valid request id and replaces any other', async () => {
  const kept = await api('GET', '/me', { headers: { 'x-request-id': 'Trace-1.a_b' } })
  expect(kept.headers.get('x-request-id')).toBe('Trace-1.a_b')
  for (const id of ['a b', '\u00e9', 'x'.repeat(129), 'a;b', '']) {
    const answer = await api('GET', '/me', { headers: { 'x-request-id': id } })
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  }
})

describe('routes', () => {
  it('name the missing resource in a 404', async () => {
    const answer = await api('GET', '/nowhere/at-all?x=1')
    expect(answer.body).toEqual({
      name: 'NotFoundError',
      message: 'Route not found: GET /api/v3/nowhere/at-all',
      errorCode: 'NotFoundError',
      reason: 'unknown-route',
      details: {},
    })
  })

  it('list the allowed methods of a known path', async () => {
    const answer = await api('PATCH', '/projects')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
    expect(answer.body).toMatchObject({ reason: 'method-not-allowed', details: { allow: ['GET', 'HEAD', 'POST'] } })
  })

  it.each([
    ['http://any.example/api/v3/projects/1/versions/none/documents/a/b', 'Version not found'],
    ['HTTP://any.example:1/api/v3/projects/1/versions/none/documents/a?prefix=b', 'Version not found'],
    ['http://[::1/api/v3/conversations/none', 'Conversation not found'],
    ['http://any.example/nowhere?a', 'Route not found: GET /nowhere'],
    ['*', 'Route not found: GET *'],
  ])('are matched in every URL form: %s', async (target, message) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${server.adminKey}\r\n\r\n`
    const { status, body } = parseRaw(await sendRaw(Number(new URL(server.url).port), [head]))
    expect(status).toBe(404)
    expect(JSON.parse(body)).toMatchObject({ name: 'NotFoundError', message })
  })

  it.each(['http://', 'http://any.example?a'])('serve the console at the root, also for %s', async (target) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
    const { status, headers } = parseRaw(await sendRaw(Number(new URL(server.url).port), [head]))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  it('respond to HEAD like GET without the body', async () => {
    const get = await api('GET', '/me')
    const head = await api('HEAD', '/me')
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
  })

  it("ignore a GET request's body and content type", async () => {
    const { port } = new URL(server.url)
    const answer = await sendRaw(Number(port), [
      `GET /api/v3/me HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${server.adminKey}\r\n`,
      'Content-Type: text/plain\r\nContent-Length: 8\r\n\r\nnot json',
    ])
    expect(parseRaw(answer).status).toBe(200)
  })

  it('are case-sensitive in keys and paths', async () => {
    expect((await httpCall('GET', `${server.url}/API/v3/me`)).status).toBe(404)
    expect((await api('GET', '/ME')).status).toBe(404)
  })
})

describe('CORS', () => {
  it('answers the preflight of a listed origin without a key', async () => {
    const headers = { origin, 'access-control-request-method': 'POST' }
    const answer = await httpCall('OPTIONS', `${server.url}/api/v3/projects`, { headers })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, DELETE')
    const allowed = answer.headers.get('access-control-allow-headers')
    for (const name of ['Idempotency-Key', 'X-Stet-Parameters', 'X-Stainless-Helper-Method', 'OpenAI-Beta'])
      expect(allowed).toContain(name)
    expect(answer.headers.get('vary')).toContain('Origin')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('echoes a listed origin, even on errors, and exposes our headers', async () => {
    const answer = await api('GET', '/nowhere', { headers: { origin } })
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    const exposed = answer.headers.get('access-control-expose-headers')
    for (const name of ['X-RateLimit-Reset', 'X-Stet-Warning']) expect(exposed).toContain(name)
  })

  it('sends no CORS headers to other origins', async () => {
    for (const other of ['https://evil.example.com', `${origin}.evil.com`, 'null']) {
      const answer = await api('GET', '/me', { headers: { origin: other } })
      expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    }
    const preflight = await httpCall('OPTIONS', `${server.url}/api/v3/projects`, {
      headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(401)
  })
})
