import { describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller, httpCall } from './api-call.ts'
import { contractRoutes, fill, validQuery, type WalkedRoute } from './contract-routes.ts'
import { countRows, foreignReferences, openHoldings } from './foreign-ids.ts'
import { openTenant } from './scenario.ts'
import { sharedServer } from './shared-server.ts'

const scopes = ['read', 'run', 'write', 'publish', 'admin'] as const

const { server, api } = await sharedServer()

async function issueKey(body: Record<string, unknown>): Promise<{ id: number; key: string }> {
  const answer = await api('POST', '/api-keys', { body: { name: 'matrix', ...body } })
  expect(answer.status, answer.text).toBe(201)
  return answer.body as unknown as { id: number; key: string }
}

function call(route: WalkedRoute, authorization: string | undefined) {
  return httpCall(route.method, `${server.url}/api/v3${fill(route.path)}${validQuery[route.name] ?? ''}`, {
    headers: authorization === undefined ? {} : { authorization },
  })
}

// Attach errors contain their message under both documented keys.
function twice(route: WalkedRoute, message: string): object {
  return route.name === 'runs.attach' ? { error: { message } } : {}
}

/** The declared errors have a request without a key and one with an unknown key for every route. */
const probes = contractRoutes.filter(({ name }) =>
  ['apiKeys.me', 'versions.push', 'runs.run', 'runs.attach'].includes(name),
)

async function expectUnauthorized(authorization: string | undefined, reason: 'no-key' | 'unknown-key'): Promise<void> {
  for (const route of probes) {
    const { status, headers, body } = await call(route, authorization)
    expect({ route: route.name, status, body }).toEqual({
      route: route.name,
      status: 401,
      body: {
        name: 'UnauthorizedError',
        message: expect.any(String),
        errorCode: 'UnauthorizedError',
        reason,
        details: {},
        ...twice(route, String(body['message'])),
      },
    })
    expect(headers.get('www-authenticate')).toBe('Bearer')
    expect(headers.has('x-ratelimit-limit')).toBe(false)
  }
}

describe('access matrix of all contract routes', () => {
  it('covers more than 25 routes', () => {
    expect(contractRoutes.length).toBeGreaterThan(25)
  })

  it.each([
    ['no header', undefined],
    ['no token', 'Bearer'],
  ])('returns 401 for %s', (_name, authorization) => expectUnauthorized(authorization, 'no-key'))

  it.each([
    ['a malformed key', () => 'Bearer stet_short'],
    [
      'a key with a bad checksum',
      () => `Bearer ${server.adminKey.slice(0, -1)}${server.adminKey.endsWith('0') ? '1' : '0'}`,
    ],
    ['an unknown key', () => `Bearer ${generateApiKey()}`],
    ['another scheme', () => `Basic ${server.adminKey}`],
  ])('returns 401 with the same body for %s', (_name, authorization) =>
    expectUnauthorized(authorization(), 'unknown-key'),
  )

  it('returns 401 immediately for a revoked key', async () => {
    const { id, key } = await issueKey({})
    expect((await api('GET', '/me', { key })).status).toBe(200)
    expect((await api('DELETE', `/api-keys/${id}`)).status).toBe(200)
    await expectUnauthorized(`Bearer ${key}`, 'unknown-key')
  })

  it('checks the key (401) before the route (404, 405)', async () => {
    for (const path of ['/nowhere', '/projects/%zz', '/projects/1/versions/live/documents/a%', '']) {
      expect((await httpCall('PATCH', `${server.url}/api/v3${path}`)).status).toBe(401)
    }
  })

  it('accepts each scope that a route lists', async () => {
    const issued = await Promise.all(
      scopes.map(async (scope) => [scope, (await issueKey({ scopes: [scope] })).key] as const),
    )
    const keys: Record<string, string> = Object.fromEntries(issued)
    for (const route of contractRoutes) {
      for (const scope of [route.metadata.scope].flat()) {
        const { status } = await call(route, `Bearer ${keys[scope] ?? keys['read']}`)
        expect(status, route.name).not.toBe(403)
      }
    }
  })

  it("responds to another tenant's ids as to unknown ones, and changes nothing", async () => {
    const admin = apiCaller(server.url, await openTenant(server, 'other tenant'))
    // Without the rate limit of the first key, which a fast machine reaches.
    const limits = { plan: 'custom', limit: 100_000 }
    const issued = await admin('POST', '/api-keys', { body: { name: 'other', scopes: ['admin'], ...limits } })
    const other = apiCaller(server.url, String(issued.body['key']))
    const [mine, theirs] = [await openHoldings(api), await openHoldings(other)]
    const before = await countRows(server)
    for (const { name, send } of foreignReferences(other, { own: theirs, foreign: mine })) {
      const [foreign, unknown] = [await send('foreign'), await send('unknown')]
      expect({ name, status: foreign.status, body: foreign.body }).toEqual({
        name,
        status: unknown.status,
        body: unknown.body,
      })
      const refused = name === 'versions.publish versionUuid' ? 400 : 404
      // A filter with a foreign id matches nothing.
      expect(foreign.status, name).toBe(name.startsWith('filter ') ? 200 : refused)
    }
    expect(await countRows(server)).toEqual(before)
  })

  it("responds to other projects' ids as to unknown ones for a restricted key", async () => {
    const [hidden, own] = [await openHoldings(api), await openHoldings(api)]
    const { key } = await issueKey({ projectId: own.projectId, scopes: [...scopes], plan: 'custom', limit: 100_000 })
    const restricted = apiCaller(server.url, key)
    const before = await countRows(server)
    const references = foreignReferences(restricted, { own, foreign: hidden })
    for (const { name, send } of references.filter(({ belongsToWorkspace }) => !belongsToWorkspace)) {
      const [foreign, unknown] = [await send('foreign'), await send('unknown')]
      expect({ name, status: foreign.status, body: foreign.body }).toEqual({
        name,
        status: unknown.status,
        body: unknown.body,
      })
      expect(foreign.status, name).not.toBe(403)
    }
    expect((await restricted('GET', '/projects')).body).toMatchObject([{ id: own.projectId }])
    expect(await countRows(server)).toEqual(before)
  })
})
