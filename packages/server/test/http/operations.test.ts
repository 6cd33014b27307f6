import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { apiCaller, httpCall } from './api-call.ts'
import { openServer } from './scenario.ts'

let server: TestServer
beforeAll(async () => {
  ;({ server } = await openServer({ STET_METRICS_TOKEN: 'figures' }))
})
afterAll(() => server.close())

describe('routes outside the prefix', () => {
  it('/health tells status, version and features', async () => {
    const { status, body } = await httpCall('GET', `${server.url}/health`)
    expect(status).toBe(200)
    expect(body).toEqual({ status: 'ok', version: expect.any(String), features: expect.any(Array) })
  })

  it('/ready answers ready', async () => {
    expect((await httpCall('GET', `${server.url}/ready`)).body).toEqual({ status: 'ready' })
  })

  it('/metrics asks for its token and counts requests by route', async () => {
    const refused = await httpCall('GET', `${server.url}/metrics`)
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
    await apiCaller(server.url, server.adminKey)('GET', '/me')
    const { status, text } = await httpCall('GET', `${server.url}/metrics`, {
      headers: { authorization: 'Bearer figures' },
    })
    expect(status).toBe(200)
    expect(text).toMatch(/^stet_http_requests_total\{method="GET",route="\/me",status="200"\} 1$/m)
  })

  it('/openapi.json is the contract', async () => {
    const { body } = await httpCall('GET', `${server.url}/openapi.json`)
    expect(body['openapi']).toMatch(/^3\.1/)
    expect(body['paths']).toBeTypeOf('object')
  })

  it('/docs is one page whose only style is the one that its policy allows', async () => {
    const { headers, text } = await httpCall('GET', `${server.url}/docs`)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = headers.get('content-security-policy') ?? ''
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? ''
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    expect(policy).toContain("default-src 'none'")
    expect(text).not.toMatch(/<script|<link|src=|style="/)
    expect(text).toContain('create-or-update')
  })
})
