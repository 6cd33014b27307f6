/** The built files of the console: which exist, and in which encodings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConsoleBuild } from '../../src/http/console/page.ts'
import { type TestServer, testServer } from '../support/test-server.ts'
import { httpCall } from './api-call.ts'
import { parseRaw, sendRaw } from './raw-http.ts'

const folder = fileURLToPath(new URL('../../dist/console/', import.meta.url))
const { files } = JSON.parse(readFileSync(join(folder, 'console.json'), 'utf8')) as ConsoleBuild
const assets = files.filter(({ path }) => path.startsWith('assets/'))
const script = fileWith('.js')
const font = fileWith('.woff2')

function fileWith(extension: string) {
  const found = assets.find(({ path }) => path.endsWith(extension))
  if (!found) throw new Error(`The console has no ${extension} file`)
  return found
}

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(() => server.close())

const ask = (path: string, encodings: string, method = 'GET') =>
  fetch(`${server.url}/${path}`, { method, headers: { 'accept-encoding': encodings } })

it.each(assets)('$path is immutable and the same in every encoding', async ({ path, type, bytes, br, gz }) => {
  const plain = readFileSync(join(folder, path))
  expect(plain.length).toBe(bytes)
  for (const [encoding, size] of [
    ['br', br],
    ['gzip', gz],
    ['identity', bytes],
  ] as const) {
    const answer = await ask(path, encoding)
    const { status, headers } = answer
    expect(status).toBe(200)
    expect(Buffer.from(await answer.arrayBuffer()).equals(plain)).toBe(true)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': type,
      'content-length': String(size ?? bytes),
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    })
    expect(headers.get('content-encoding')).toBe(size === null || encoding === 'identity' ? null : encoding)
  }
})

it('serves the licenses of the bundled packages at a fixed address, which is not kept', async () => {
  const answer = await ask('LICENSES.txt', 'br')
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('react-dom')
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-encoding': 'br',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
  })
})

describe('encodings', () => {
  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['*', 'br'],
    ['', null],
    ['deflate', null],
  ])('Accept-Encoding: %s gets %s', async (accepted, encoding) => {
    expect((await ask(script.path, accepted)).headers.get('content-encoding')).toBe(encoding)
    expect((await ask(font.path, accepted)).headers.get('content-encoding')).toBeNull()
  })
})

it('HEAD has the headers of GET and no body', async () => {
  const { port } = new URL(server.url)
  const request = `HEAD /${script.path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n`
  const { status, headers, body } = parseRaw(await sendRaw(Number(port), [request]))
  expect({ status, body, length: headers.get('content-length') }).toEqual({
    status: 200,
    body: '',
    length: String(script.br),
  })
})

it.each([
  'assets/index-00000000.js',
  'assets/',
  'assets',
  `${script.path}.br`,
  `${script.path}/`,
  script.path.replace('assets', 'Assets'),
  script.path.replace('assets', 'assets/../assets'),
  'assets/%2e%2e/console.json',
  'assets/..%2findex.html',
  'console.json',
  'index.html',
  'assets/constructor',
])('/%s is a JSON 404 and not the page', async (path) => {
  const { port } = new URL(server.url)
  const { status, headers, body } = parseRaw(
    await sendRaw(Number(port), [`GET /${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`]),
  )
  expect(status).toBe(404)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(JSON.parse(body)).toMatchObject({ name: 'NotFoundError', reason: 'unknown-route' })
})

it('accepts GET and HEAD only', async () => {
  const answer = await httpCall('POST', `${server.url}/${script.path}`)
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')).toBe('GET, HEAD')
})

it('counts requests under one route', async () => {
  await ask(script.path, 'br')
  const { text } = await httpCall('GET', `${server.url}/metrics`)
  expect(text).toMatch(/^stet_http_requests_total\{method="GET",route="\/assets\/\*",status="200"\} \d+$/m)
  expect(text).not.toContain(script.path)
})
