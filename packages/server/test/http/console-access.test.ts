/**
 * Cookies that must not open a route, below /api/v3 and /console. The declared errors have a request without one for
 * each.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { httpCall } from './api-call.ts'
import { browser } from './console-call.ts'
import { allRoutes, fill } from './contract-routes.ts'
import { type Api, issueKey, openServer } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

interface Place {
  name: string
  method: string
  path: string
}

const routes: Place[] = allRoutes
  .filter(({ metadata }) => !metadata.isPublic)
  .map(({ name, method, prefix, path }) => ({ name, method, path: prefix + fill(path) }))

const { server: other } = await sharedServer()
let server: TestServer
let api: Api
let cookie: string
let foreign: string

beforeAll(async () => {
  ;({ server, api } = await openServer())
  cookie = await cookieFor(server, await issueKey(api, { scopes: ['admin'] }))
  foreign = await cookieFor(other, other.adminKey)
})
afterAll(() => server.close())

async function cookieFor({ url }: TestServer, apiKey: string): Promise<string> {
  const page = browser(url)
  const { status, text } = await page.signIn({ apiKey })
  expect(status, text).toBe(201)
  return page.cookie ?? ''
}

/** Routes of each kind, for what one check before all routes decides. */
const probes = routes.filter(({ name }) =>
  ['apiKeys.me', 'versions.push', 'runs.run', 'console.session'].includes(name),
)

async function expectUnauthorized(headers: Record<string, string>, reason = 'no-key', places = probes): Promise<void> {
  for (const { name, method, path } of places) {
    const { status, headers: sent, body } = await httpCall(method, `${server.url}${path}`, { headers })
    expect({ name, status, reason: body['reason'] }).toEqual({ name, status: 401, reason })
    expect(sent.getSetCookie(), name).toEqual([])
    expect(sent.has('x-ratelimit-limit'), name).toBe(false)
  }
}

const mark = { 'x-stet-console': '1' }

describe('the answer is 401', () => {
  it('covers both groups of routes', () => {
    expect(routes.filter(({ path }) => path.startsWith('/console/'))).toHaveLength(5)
    expect(routes.length).toBeGreaterThan(40)
  })

  it.each([
    ['a wrong token', () => `${cookie.split('=')[0]}=${'A'.repeat(43)}`],
    ['a malformed token', () => `${cookie.split('=')[0]}=short`],
    ['an empty token', () => `${cookie.split('=')[0]}=`],
    ['another name', () => cookie.replace(/^stet-/, 'stet_')],
    ['the name for https', () => `__Host-${cookie}`],
    ['the cookie of another installation', () => foreign],
    ['its token under our name', () => `${cookie.split('=')[0]}=${foreign.split('=')[1]}`],
  ])('with %s', (_name, value) => expectUnauthorized({ ...mark, cookie: value() }))

  it('without the header of the console', () => expectUnauthorized({ cookie }, 'no-key', routes))
  it('with another value in that header', () => expectUnauthorized({ cookie, 'x-stet-console': 'true' }))

  it.each(['cross-site', 'same-site', 'none'])('for a request with Sec-Fetch-Site: %s', (site) =>
    expectUnauthorized({ ...mark, cookie, 'sec-fetch-site': site }),
  )

  it('for a wrong bearer key beside a valid cookie', () =>
    expectUnauthorized({ ...mark, cookie, authorization: 'Bearer stet_short' }, 'unknown-key'))
  it('for an empty bearer key beside a valid cookie', () =>
    expectUnauthorized({ ...mark, cookie, authorization: 'Bearer' }))
})

it('a valid cookie opens every route, from its own page', async () => {
  for (const { name, method, path } of routes) {
    if (name === 'console.signOut') continue
    const headers = { ...mark, cookie, 'sec-fetch-site': 'same-origin' }
    // Waits for a free second: the routes are more than a session may call in one.
    const status = () => httpCall(method, `${server.url}${path}`, { headers }).then((answer) => answer.status)
    await expect.poll(status, { message: name }).not.toBe(429)
    expect([401, 403], name).not.toContain(await status())
  }
})

it("a bearer key beside another key's cookie gets the bearer key's own responses", async () => {
  // A limit that both loops do not reach: two refusals would look like two equal responses.
  const key = await issueKey(api, { scopes: ['run'], plan: 'custom', limit: 100_000 })
  const authorization = `Bearer ${key}`
  for (const { name, method, path } of routes) {
    const send = (headers: Record<string, string>) => httpCall(method, `${server.url}${path}`, { headers })
    const [alone, beside] = [await send({ authorization }), await send({ ...mark, authorization, cookie })]
    // A link is a new one each time.
    if (name === 'console.createLink') expect([alone.status, beside.status]).toEqual([201, 201])
    else if (name === 'apiKeys.me') expect(beside.body['apiKey']).toMatchObject({ scopes: ['run'] })
    else
      expect({ name, status: beside.status, body: beside.body }).toEqual({
        name,
        status: alone.status,
        body: alone.body,
      })
  }
})

describe('signing in', () => {
  it.each([
    ['without the header', {}],
    ['from another site', { ...mark, 'sec-fetch-site': 'cross-site' }],
    ['with a bearer key instead of the header', { authorization: 'KEY' }],
  ])('is refused %s', async (_name, headers) => {
    const sent = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('KEY', `Bearer ${server.adminKey}`),
    ])
    const answer = await httpCall('POST', `${server.url}/console/session`, {
      headers: Object.fromEntries(sent),
      body: { apiKey: server.adminKey },
    })
    expect({ status: answer.status, reason: answer.body['reason'] }).toEqual({ status: 401, reason: 'no-key' })
    expect(answer.headers.getSetCookie()).toEqual([])
  })
})

it('two servers on one host stay signed in, because their cookies have different names', async () => {
  expect(cookie.split('=')[0]).not.toBe(foreign.split('=')[0])
  const both = { ...mark, cookie: `theme=dark; ${foreign}; ${cookie}` }
  for (const { url } of [server, other]) {
    await expect.poll(async () => (await httpCall('GET', `${url}/console/session`, { headers: both })).status).toBe(200)
  }
})

it('unknown paths and methods get the errors of every other path', async () => {
  expect((await httpCall('GET', `${server.url}/console/nope`)).body).toMatchObject({ reason: 'unknown-route' })
  const answer = await httpCall('PUT', `${server.url}/console/links`)
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  expect((await httpCall('PATCH', `${server.url}/console/session`)).headers.get('allow')).toBe(
    'DELETE, GET, HEAD, POST',
  )
})

describe('behind a trusted proxy, with a limit of failures', () => {
  const https = { ...mark, 'x-forwarded-proto': 'https' }
  const setCookie = async ({ url, adminKey }: TestServer) => {
    const answer = await httpCall('POST', `${url}/console/session`, { headers: https, body: { apiKey: adminKey } })
    return answer.headers.getSetCookie()[0] ?? ''
  }
  let proxied: TestServer
  beforeAll(async () => {
    ;({ server: proxied } = await openServer({ STET_TRUST_PROXY: '1', STET_AUTH_FAILURE_LIMIT: '5' }))
  })
  afterAll(() => proxied.close())

  it('the scheme is https by the header of the proxy, which nobody else can set', async () => {
    expect(await setCookie(server)).toMatch(/^stet-[0-9a-f]{6}=[\w-]{43}; [^;]+; HttpOnly; SameSite=Strict; [^;]+$/)
    const set = await setCookie(proxied)
    expect(set).toMatch(/^__Host-stet-[0-9a-f]{6}=.*; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800; Secure$/)
    const [pair = ''] = set.split(';')
    const get = (headers: Record<string, string>) =>
      httpCall('GET', `${proxied.url}/console/session`, { headers: { ...headers, cookie: pair } })
    expect((await get(https)).status).toBe(200)
    expect((await get(mark)).status).toBe(401)
  })

  it('failures count toward the limit of the address', async () => {
    const page = browser(proxied.url)
    await page.signIn({ apiKey: proxied.adminKey })
    const refused = () => browser(proxied.url).signIn({ code: 'A'.repeat(43) })
    // The clock is frozen, so that a slow machine does not need a second window.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const answers = []
    for (let count = 0; count < 6; count += 1) answers.push(await refused())
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
    expect(answers[5]?.body).toMatchObject({ reason: 'failed-authentications' })
    expect((await browser(proxied.url).signIn({ apiKey: proxied.adminKey })).status).toBe(429)
    page.cookie = `${page.cookie?.split('=')[0]}=${'A'.repeat(43)}`
    expect((await page.call('GET', '/api/v3/me')).status).toBe(429)
  })
})
