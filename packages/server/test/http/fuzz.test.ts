import { ErrorBody } from '@stet/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import type { TestServer } from '../support/test-server.ts'
import type { ApiAnswer } from './api-call.ts'
import { contractRoutes, fill, type Placeholders, validBody, type WalkedRoute } from './contract-routes.ts'
import { type Api, openServer } from './scenario.ts'
import { bodyOf, hostileText, queryOf } from './schema-inputs.ts'

const casesPerRoute = count(500, 50_000)

let server: TestServer
let api: Api
const known: Required<Placeholders> = {
  projectId: '1',
  versionUuid: 'live',
  path: 'a',
  conversationUuid: '',
  evaluationUuid: '',
  id: '1',
}

beforeAll(async () => {
  ;({ server, api } = await openServer())
  const created = await api('POST', '/projects', { body: { name: 'fuzz' } })
  const { project, version } = created.body as unknown as { project: { id: number }; version: { uuid: string } }
  known.projectId = String(project.id)
  known.versionUuid = version.uuid
  await api('POST', `/projects/${project.id}/versions/${version.uuid}/documents`, {
    body: { path: 'a', prompt: 'Hello {{ name }}' },
  })
  const address = `/projects/${project.id}/versions/${version.uuid}/documents/logs`
  const log = await api('POST', address, { body: { path: 'a', messages: [] } })
  known.conversationUuid = String(log.body['uuid'])
  const evaluation = { projectId: project.id, name: 'fuzz', metric: 'rating' }
  known.evaluationUuid = String((await api('POST', '/evaluations', { body: evaluation })).body['uuid'])
})
afterAll(() => server.close())

// A valid body with a few keys replaced gets past the outermost check more often than one that is made whole.
const override = (name: string, made: fc.Arbitrary<unknown>) =>
  made.map((body) => {
    const keys = Object.entries(Object(body)).slice(0, 3)
    return { ...validBody[name], ...Object.fromEntries(keys) }
  })
const jsonBody = (route: WalkedRoute) => {
  const made = bodyOf(route) ?? fc.constant({})
  return fc.oneof(
    { weight: 4, arbitrary: made.map((body) => JSON.stringify(body)) },
    { weight: 4, arbitrary: override(route.name, made).map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: hostileText },
  )
}
const placeholders = (name: keyof Placeholders) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(known[name]) }, { weight: 1, arbitrary: hostileText })

describe.concurrent('promise 16: no unexpected 500, and the body is always a documented one', () => {
  for (const route of contractRoutes) {
    it(
      `${route.method} ${route.path}`,
      async () => {
        // Fuzzing must not revoke the key that it uses, nor grow without bound.
        const input = fc.record({
          projectId: placeholders('projectId'),
          versionUuid: placeholders('versionUuid'),
          path: placeholders('path'),
          conversationUuid: placeholders('conversationUuid'),
          evaluationUuid: placeholders('evaluationUuid'),
          id: fc.constantFrom('0', '-1', 'x', '\u0000', '2147483647', '2147483648', '99999999999999999999'),
          query: queryOf(route),
          etag: fc.option(fc.constantFrom('*', '"x"', 'x', '"', '\u00ff'), { nil: undefined }),
          body: jsonBody(route),
        })
        await fc.assert(
          fc.asyncProperty(input, (each) => expectDocumented(route, each)),
          { numRuns: casesPerRoute, seed },
        )
      },
      timeFor(casesPerRoute, 200),
    )
  }
})

async function expectDocumented(
  route: (typeof contractRoutes)[number],
  input: Required<Placeholders> & { query: Record<string, string>; etag: string | undefined; body: string },
): Promise<void> {
  const wellFormed = Object.fromEntries(
    Object.entries(input).map(([name, each]) => [
      name,
      typeof each === 'string' ? each.replace(/\p{Surrogate}/gu, '') : each,
    ]),
  ) as unknown as Required<Placeholders>
  const query = new URLSearchParams(input.query).toString()
  const hasBody = route.method === 'POST' || route.method === 'PUT'
  const answer = await api(route.method, `${fill(route.path, wellFormed)}${query === '' ? '' : `?${query}`}`, {
    ...(hasBody ? { body: input.body } : {}),
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(input.etag === undefined ? {} : { 'if-match': input.etag, 'if-none-match': input.etag }),
    },
  })
  expect(answer.status, answer.text).toBeLessThan(500)
  expectHeaders(answer)
  if (answer.status >= 400) expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
}

/** Those of every answer of every route, errors included. */
function expectHeaders({ status, headers }: ApiAnswer): void {
  expect(headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{22}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
  expect(headers.get('cache-control')).toMatch(/^(no-store|private, no-cache|no-cache, no-transform)$/)
  if (status >= 400) expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  for (const name of ['x-powered-by', 'server', 'set-cookie']) expect(headers.has(name)).toBe(false)
}
