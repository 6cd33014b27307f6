import { ErrorBody } from '@stet/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import { type ApiAnswer, apiCaller } from './api-call.ts'
import { allRoutes, type Placeholders, validBody, type WalkedRoute } from './contract-routes.ts'
import { type RouteRequest, send, successOf } from './declared-errors/requests.ts'
import { openWorld, type World } from './declared-errors/world.ts'
import { createTestProject, issueKey, openTenant } from './scenario.ts'
import { bodyOf, hostileHeaders, hostileText, queryOf } from './schema-inputs.ts'

const casesPerRoute = count(8, 5_000)

let world: World

beforeAll(async () => {
  world = await openWorld({ STET_WORKERS: '4', STET_MAX_QUEUED_PER_KEY: '1000', STET_LOG_LEVEL: 'error' })
})
afterAll(() => world.close())

/** A success uses up a resource of the request, so that the next request needs a new one. */
const consuming = new Set([
  'apiKeys.rotate',
  'apiKeys.revoke',
  'providerApiKeys.delete',
  'versions.publish',
  'environments.rollback',
  'documents.delete',
  'conversations.delete',
  'examples.delete',
  'projects.delete',
  'console.signOut',
  'console.endSession',
])
/** These have a tenant of their own, because their rows would make every list long. */
const leavesMuch = new Set(['apiKeys.rotate', 'apiKeys.revoke', 'versions.publish', 'environments.rollback'])

const known = Symbol('an id that exists')
const orKnown = (others: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(known) }, { weight: 1, arbitrary: others })
const rowIds = fc.constantFrom('0', '-1', 'x', '\u0000', '2147483647', '2147483648', '99999999999999999999')

const idsOf: Record<keyof Placeholders, fc.Arbitrary<string | typeof known>> = {
  projectId: orKnown(hostileText),
  versionUuid: orKnown(hostileText),
  environment: orKnown(hostileText),
  path: orKnown(hostileText),
  conversationUuid: orKnown(hostileText),
  runUuid: orKnown(hostileText),
  evaluationUuid: orKnown(hostileText),
  exampleUuid: orKnown(hostileText),
  experimentUuid: orKnown(hostileText),
  id: orKnown(rowIds),
}

interface FuzzInput {
  ids: Record<keyof Placeholders, string | typeof known>
  query: Record<string, string>
  headers: Record<string, string>
  /** A text, or keys that replace those of a valid body, which passes the first validation more often. */
  body: { text: string } | { replaced: Record<string, unknown> }
}

function inputOf(route: WalkedRoute): fc.Arbitrary<FuzzInput> {
  const made = bodyOf(route) ?? fc.constant({})
  const replaced = made.map((body) => ({ replaced: Object.fromEntries(Object.entries(Object(body)).slice(0, 3)) }))
  const body = fc.oneof(
    { weight: 4, arbitrary: made.map((body) => ({ text: JSON.stringify(body) })) },
    { weight: 4, arbitrary: replaced },
    { weight: 2, arbitrary: fc.constant({ replaced: {} }) },
    { weight: 1, arbitrary: fc.json().map((text) => ({ text })) },
    { weight: 1, arbitrary: hostileText.map((text) => ({ text })) },
  )
  return fc.record({ ids: fc.record(idsOf), query: queryOf(route), headers: hostileHeaders, body })
}

describe.concurrent('promise 16: no unexpected 500, and every error body is documented', () => {
  for (const route of allRoutes) {
    it(
      `${route.method} ${route.prefix}${route.path}`,
      async () => {
        const place = leavesMuch.has(route.name) ? await ofOwnTenant(route.name) : world
        // No run waits for a tool.
        const isLate = route.name === 'tools.result'
        const make = () => (isLate ? { body: validBody[route.name] } : successOf(place, route))
        let valid = await make()
        // Random inputs for long schemas are rarely valid, but one input must reach the code behind validation.
        const first = await send(place, route, valid)
        expectDocumented(route, first)
        expect(isLate ? [404] : route.successes, first.text).toContain(first.status)
        let { status } = first
        const documented = fc.asyncProperty(inputOf(route), async (input) => {
          if (status < 300 && consuming.has(route.name)) valid = await make()
          const answer = await send(place, route, requestOf(valid, input))
          expectDocumented(route, answer, input.headers['x-request-id'])
          status = answer.status
        })
        await fc.assert(documented, { numRuns: casesPerRoute - 1, seed })
      },
      timeFor(casesPerRoute, 1_000),
    )
  }
})

function requestOf(
  { ids: valid = {}, ...request }: RouteRequest,
  { ids, query, headers, body }: FuzzInput,
): RouteRequest {
  const names = Object.keys(ids) as (keyof Placeholders)[]
  const chosen = names.map((name) => {
    const id = ids[name]
    return [name, id === known ? (valid[name] ?? '') : id.replace(/\p{Surrogate}/gu, '')]
  })
  const text = new URLSearchParams(query).toString()
  return {
    ...request,
    ids: Object.fromEntries(chosen),
    query: text === '' ? '' : `?${text}`,
    headers: { ...request.headers, ...headers },
    body: 'text' in body ? body.text : JSON.stringify({ ...Object(request.body), ...body.replaced }),
  }
}

/** The world with what the routes need that leave much, in a new tenant. */
async function ofOwnTenant(name: string): Promise<World> {
  const { server } = world.bench
  const admin = apiCaller(server.url, await openTenant(server, name))
  const key = await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 })
  const api = apiCaller(server.url, key)
  const project = await createTestProject(api)
  return {
    ...world,
    bench: { ...world.bench, key },
    project,
    newDraft: async () => (await project.newDraft()).split('/').at(-1) ?? '',
    newApiKey: async () => (await api('POST', '/api-keys', { body: { name } })).body as { id: number; key: string },
  }
}

function expectDocumented(route: WalkedRoute, { status, headers, text, body }: ApiAnswer, sentId = ''): void {
  expect(status, text).toBeLessThan(500)
  if (status >= 400) expect(ErrorBody.safeParse(body).error).toBeUndefined()
  const isKept = /^[A-Za-z0-9._-]{1,128}$/.test(sentId)
  expect(headers.get('x-request-id')).toMatch(isKept ? sentId : /^req_[0-9A-Za-z]{22}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toMatch(/^(no-store|private, no-cache|no-cache, no-transform)$/)
  if (status >= 400) expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  for (const name of ['x-powered-by', 'server']) expect(headers.has(name)).toBe(false)
  if (route.metadata.isPublic) return
  // Signing in has no limit before the key is found.
  expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
  if (route.name !== 'console.signOut') expect(headers.has('set-cookie')).toBe(false)
}
