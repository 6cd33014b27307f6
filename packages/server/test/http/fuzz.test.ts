import { ErrorBody, readsBody } from '@stet/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import type { TestServer } from '../support/test-server.ts'
import type { ApiAnswer } from './api-call.ts'
import { contractRoutes, fill, type Placeholders, validBody, validQuery, type WalkedRoute } from './contract-routes.ts'
import { type Existing, existingFor } from './fuzz-world.ts'
import { type Api, openServer } from './scenario.ts'
import { bodyOf, hostileHeaders, hostileText, queryOf } from './schema-inputs.ts'

const casesPerRoute = count(40, 50_000)

let server: TestServer
let api: Api

beforeAll(async () => {
  ;({ server, api } = await openServer())
})
afterAll(() => server.close())

// A valid body with a few replaced keys passes the first validation more often than a random one.
const override = (name: string, made: fc.Arbitrary<unknown>) =>
  made.map((body) => {
    const keys = Object.entries(Object(body)).slice(0, 3)
    return { ...validBody[name], ...Object.fromEntries(keys) }
  })
const bodyFor = ({ name }: WalkedRoute) => JSON.stringify(validBody[name] ?? {})
const jsonBody = (route: WalkedRoute) => {
  const made = bodyOf(route) ?? fc.constant({})
  return fc.oneof(
    { weight: 4, arbitrary: made.map((body) => JSON.stringify(body)) },
    { weight: 4, arbitrary: override(route.name, made).map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: fc.constant(bodyFor(route)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: hostileText },
  )
}
const known = Symbol('an id that exists')
const orKnown = (others: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(known) }, { weight: 1, arbitrary: others })
const rowIds = fc.constantFrom('0', '-1', 'x', '\u0000', '2147483647', '2147483648', '99999999999999999999')

const idsOf: Record<keyof Placeholders, fc.Arbitrary<string | typeof known>> = {
  projectId: orKnown(hostileText),
  versionUuid: orKnown(hostileText),
  path: orKnown(hostileText),
  conversationUuid: orKnown(hostileText),
  evaluationUuid: orKnown(hostileText),
  exampleUuid: orKnown(hostileText),
  id: orKnown(rowIds),
}

const allKnown = Object.fromEntries(Object.keys(idsOf).map((name) => [name, known])) as FuzzInput['ids']

interface FuzzInput {
  ids: Record<keyof Placeholders, string | typeof known>
  query: Record<string, string>
  headers: Record<string, string>
  body: string
}

describe.concurrent('promise 16: no unexpected 500, and every error body is documented', () => {
  for (const route of contractRoutes) {
    it(
      `${route.method} ${route.path}`,
      async () => {
        const existing = await existingFor(server, api, route)
        const input = fc.record({
          ids: fc.record(idsOf),
          query: queryOf(route),
          headers: hostileHeaders,
          body: jsonBody(route),
        })
        // Random inputs for long schemas are rarely valid, but one input must reach the code behind validation. No run
        // waits for a tool.
        const query = Object.fromEntries(new URLSearchParams(validQuery[route.name]))
        const valid = await expectDocumented(route, existing, {
          ids: allKnown,
          query,
          headers: {},
          body: bodyFor(route),
        })
        expect(valid).toBeOneOf(route.name === 'tools.result' ? [404] : route.successes)
        const documented = fc.asyncProperty(input, async (each) => void (await expectDocumented(route, existing, each)))
        await fc.assert(documented, { numRuns: casesPerRoute - 1, seed })
      },
      timeFor(casesPerRoute, 1_000),
    )
  }
})

async function expectDocumented(route: WalkedRoute, existing: Existing, input: FuzzInput): Promise<number> {
  const wanted = Object.entries(input.ids).map(async ([name, id]) => {
    if (id !== known) return [name, id.replace(/\p{Surrogate}/gu, '')]
    return [name, route.path.includes(`:${name}`) ? await existing.id(name as keyof Placeholders) : '']
  })
  const ids = Object.fromEntries(await Promise.all(wanted)) as Required<Placeholders>
  const query = new URLSearchParams(input.query).toString()
  const hasBody = readsBody(route, route.metadata)
  const { documentUuid } = validBody[route.name] ?? {}
  const body =
    documentUuid === undefined ? input.body : input.body.replace(String(documentUuid), await existing.documentUuid())
  const answer = await existing.api(route.method, `${fill(route.path, ids)}${query === '' ? '' : `?${query}`}`, {
    ...(hasBody ? { body } : {}),
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...input.headers },
  })
  existing.saw(answer)
  expect(answer.status, answer.text).toBeLessThan(500)
  expectHeaders(answer, input.headers['x-request-id'])
  if (answer.status >= 400) expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
  return answer.status
}

function expectHeaders({ status, headers }: ApiAnswer, sentId = ''): void {
  const isKept = /^[A-Za-z0-9._-]{1,128}$/.test(sentId)
  expect(headers.get('x-request-id')).toMatch(isKept ? sentId : /^req_[0-9A-Za-z]{22}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
  expect(headers.get('cache-control')).toMatch(/^(no-store|private, no-cache|no-cache, no-transform)$/)
  if (status >= 400) expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  for (const name of ['x-powered-by', 'server', 'set-cookie']) expect(headers.has(name)).toBe(false)
}
