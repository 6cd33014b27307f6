import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Latitude } from '../../src/latitude/index.ts'
import { json, localServer } from '../support/local-server.ts'

const VARIABLES = [
  'STET_API_KEY',
  'STET_BASE_URL',
  'STET_PROJECT_ID',
  'LATITUDE_API_KEY',
  'GATEWAY_HOSTNAME',
  'GATEWAY_PORT',
  'GATEWAY_SSL',
]

beforeEach(() => {
  for (const name of VARIABLES) vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.unstubAllEnvs()
})

const addressOf = (options?: ConstructorParameters<typeof Latitude>[1]) => new Latitude('k', options).stet.baseUrl

it('reads the server from the `gateway` option', () => {
  const gateway = (port?: number) => ({
    __internal: { gateway: { host: 'stet.example', ssl: true, ...(port && { port }) } },
  })
  expect(addressOf(gateway(8443))).toBe('https://stet.example:8443/api/v3')
  expect(addressOf(gateway())).toBe('https://stet.example/api/v3')
  expect(addressOf({ baseUrl: 'http://other.example' })).toBe('http://other.example/api/v3')
  expect(addressOf()).toBe('http://127.0.0.1:8787/api/v3')
})

it.each([
  ['false', 'http'],
  ['0', 'http'],
  ['no', 'http'],
  ['OFF', 'http'],
  ['', 'http'],
  ['true', 'https'],
  ['1', 'https'],
  [undefined, 'https'],
])('reads the server from GATEWAY_HOSTNAME; GATEWAY_SSL %j is %s', (ssl, protocol) => {
  vi.stubEnv('GATEWAY_HOSTNAME', 'stet.example')
  vi.stubEnv('GATEWAY_PORT', '8443')
  vi.stubEnv('GATEWAY_SSL', ssl)
  expect(addressOf()).toBe(`${protocol}://stet.example:8443/api/v3`)
  vi.stubEnv('STET_BASE_URL', 'http://first.example')
  expect(addressOf()).toBe('http://first.example/api/v3')
})

it('reads the API key from its argument, STET_API_KEY, then LATITUDE_API_KEY', async () => {
  const server = await localServer(json([]))
  const keyOf = async (key?: string) => {
    await new Latitude(key, { baseUrl: server.url }).projects.getAll()
    return server.requests.at(-1)?.headers['authorization']
  }
  vi.stubEnv('LATITUDE_API_KEY', 'third')
  expect(await keyOf()).toBe('Bearer third')
  vi.stubEnv('STET_API_KEY', 'second')
  expect(await keyOf()).toBe('Bearer second')
  expect(await keyOf('first')).toBe('Bearer first')
})

it('waits retryMs before the first retry, unless the server requests another wait', async () => {
  const busy = json({ message: 'busy' }, 503)
  const server = await localServer(busy, busy, json({ message: 'wait' }, 429, { 'retry-after-ms': '7' }), json([]))
  const waits: string[] = []
  const logger = { ...console, info: (message: string) => void waits.push(message) }
  const latitude = new Latitude('k', {
    baseUrl: server.url,
    maxRetries: 3,
    logLevel: 'info',
    logger,
    __internal: { retryMs: 3, source: 'api' },
  })
  expect(await latitude.projects.getAll()).toEqual([])
  expect(waits.map((message) => /in (\d+) ms/.exec(message)?.[1])).toEqual(['3', '6', '7'])
  // The published clients put these keys into each body.
  expect(JSON.stringify(server.requests)).not.toContain('__internal')
})

it('uses the given fetch', async () => {
  const fetch = vi.fn(async () => new Response('[]'))
  const latitude = new Latitude('k', { fetch, __internal: { retryMs: 1 } })
  expect(await latitude.projects.getAll()).toEqual([])
  expect(fetch).toHaveBeenCalledTimes(1)
})

it('accepts instrumentation and warns once that it has no effect', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  Latitude.instrument({})
  Latitude.instrument({})
  Latitude.uninstrument()
  expect(warn).toHaveBeenCalledTimes(1)
  warn.mockRestore()
})
