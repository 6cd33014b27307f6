/** The page of the console: its addresses, its headers, its base, and servers without it. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { packageWithoutConsole } from '../support/console-package.ts'
import { testServer } from '../support/test-server.ts'
import { httpCall } from './api-call.ts'
import { parseRaw, sendRaw } from './raw-http.ts'
import { sharedServer } from './shared-server.ts'

const { server } = await sharedServer()

const metaNonce = (html: string) => /<meta name="stet-nonce" content="([^"]+)"/.exec(html)?.[1]
const baseOf = (html: string) => /<base href="([^"]*)"/.exec(html)?.[1]
const raw = async (method: string, path: string, headers = '') =>
  parseRaw(
    await sendRaw(Number(new URL(server.url).port), [
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`,
    ]),
  )

async function opened(environment: Record<string, string>, packageRoot?: string): Promise<string> {
  const { url, close } = await testServer({ environment, ...(packageRoot !== undefined && { packageRoot }) })
  onTestFinished(close)
  return url
}

describe('addresses', () => {
  it.each([
    '/',
    '/?a=1',
    '/sign-in',
    '/sign-in?to=%2Fp%2F1',
    '/p/1',
    '/p/1/v/live/prompts/support/r%C3%A9ply?tab=run',
    '/p/1/v/live/prompts/%E0%A4%A',
    '/settings/keys',
  ])('%s is the page', async (path) => {
    const { status, headers, body } = await raw('GET', path)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(body).toContain('<div id="root">')
  })

  it.each([
    '/nope',
    '/p',
    '/P/1',
    '/sign-in/',
    '/sign-in/x',
    '/settings',
    '//p/1',
    '/runs',
    '/console',
    '/api',
    '/%2Fp/1',
  ])('%s is a JSON 404', async (path) => {
    const { status, headers, body } = await raw('GET', path)
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(JSON.parse(body)).toMatchObject({ name: 'NotFoundError', reason: 'unknown-route' })
  })

  it('leaves the other addresses of the server alone', async () => {
    for (const path of ['/health', '/docs', '/openapi.json', '/api/v3/me']) {
      const { text, headers } = await httpCall('GET', `${server.url}${path}`)
      expect(text).not.toContain('stet-nonce')
      expect(headers.has('permissions-policy')).toBe(false)
    }
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused', async (method) => {
    const { status, headers } = await raw(method, '/p/1')
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
  })
})

describe('headers', () => {
  it('allow only what the console needs, with a nonce of their own', async () => {
    const nonces = new Set<string | undefined>()
    for (let asked = 0; asked < 3; asked += 1) {
      const { headers, text } = await httpCall('GET', `${server.url}/p/1`)
      const nonce = metaNonce(text)
      nonces.add(nonce)
      expect(nonce).toMatch(/^[\w+/]{22}==$/)
      expect(headers.get('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; style-src-attr 'none'; ` +
          "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; " +
          "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringMatching(/^clipboard-write=\(self\)(, [a-z-]+=\(\)){20,}$/),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'x-request-id': expect.any(String),
      })
      for (const name of ['etag', 'last-modified', 'set-cookie', 'content-encoding'])
        expect(headers.has(name)).toBe(false)
    }
    expect(nonces.size).toBe(3)
  })

  it('never answer a conditional request with 304', async () => {
    const { status } = await raw('GET', '/', 'If-None-Match: *\r\nIf-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\r\n')
    expect(status).toBe(200)
  })

  it('of HEAD are those of GET', async () => {
    const get = await raw('GET', '/sign-in')
    const head = await raw('HEAD', '/sign-in')
    expect(head.status).toBe(200)
    expect(head.body).toBe('')
    expect(Number(head.headers.get('content-length'))).toBe(Buffer.byteLength(get.body))
    expect([...head.headers.keys()]).toEqual([...get.headers.keys()])
  })

  it('come with a page that has no inline script, no inline style and no other origin', async () => {
    const { text } = await httpCall('GET', `${server.url}/`)
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:|__STET_/)
    const sources = [...text.matchAll(/\s(?:src|href)="([^"]+)"/g)].map(([, source = '']) => source)
    expect(sources.length).toBeGreaterThan(3)
    for (const source of sources) {
      const { status, headers } = await fetch(new URL(source, `${server.url}${baseOf(text)}`))
      expect(status, source).toBe(200)
      if (source !== '/') expect(headers.get('cache-control')).toContain('immutable')
    }
  })
})

it('takes its base from the path of STET_PUBLIC_URL, and nothing from its host', async () => {
  const url = await opened({ STET_PUBLIC_URL: 'https://example.com/tools/a&b"c/' })
  for (const path of ['/', '/p/1/v/live/prompts/a/b']) {
    const { text } = await httpCall('GET', url + path)
    expect(baseOf(text)).toBe('/tools/a&amp;b%22c/')
    expect(text).not.toContain('example.com')
    const [, ...sources] = [...text.matchAll(/\s(?:src|href)="([^"]+)"/g)].map(([, source]) => source)
    for (const source of sources) expect(source).toMatch(/^\.\/assets\//)
  }
  expect(baseOf((await httpCall('GET', `${server.url}/p/1`)).text)).toBe('/')
})

it('without a built console the server has none of its addresses', async () => {
  const url = await opened({ STET_LOG_LEVEL: 'off' }, await packageWithoutConsole())
  const root = await fetch(`${url}/`, { redirect: 'manual' })
  expect({ status: root.status, location: root.headers.get('location') }).toEqual({ status: 302, location: '/docs' })
  const { text } = await httpCall('GET', `${server.url}/`)
  const [asset = ''] = /assets\/[^"]+\.js/.exec(text) ?? []
  for (const path of ['/sign-in', '/p/1', '/settings/keys', `/${asset}`])
    for (const method of ['GET', 'POST']) expect((await httpCall(method, url + path)).status).toBe(404)
  expect((await httpCall('GET', `${url}/health`)).status).toBe(200)
})
