import { ErrorBody } from '@stet/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import { contractRoutes, fill, type Placeholders, validBody } from './contract-routes.ts'
import { type Api, openServer } from './scenario.ts'

const casesPerRoute = 100

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

const hostileText = fc.constantFrom(
  '',
  ' ',
  'a',
  'live',
  '..',
  '../x',
  '/',
  '//',
  '%',
  '%00',
  '\u0000',
  '\ud800',
  'e\u0301',
  '😀',
  '\u202e',
  "'; DROP TABLE project; --",
  '__proto__',
  'constructor',
  '1e400',
  '2147483648',
  '-1',
  '0',
  '00000000-0000-0000-0000-000000000000',
  'x'.repeat(600),
  'a\r\nb: c',
  '{{ x }}',
  '---\nmodel: [',
  '<step>',
  '</user>',
)
const scalar = fc.oneof(
  hostileText,
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.oneof(hostileText, fc.string()), scalar, { maxKeys: 3 }) },
)
const message = fc.record(
  {
    role: fc.oneof(fc.constantFrom('user', 'assistant', 'tool', 'system'), hostileText),
    content: value,
    toolId: value,
    toolCalls: value,
  },
  { requiredKeys: ['role'] },
)
const change = fc.record(
  {
    path: fc.oneof(hostileText, value),
    status: fc.oneof(fc.constantFrom('added', 'modified', 'deleted', 'unchanged'), value),
    content: value,
    baseHash: value,
  },
  { requiredKeys: ['path', 'status'] },
)
const valuesOf: Record<string, fc.Arbitrary<unknown>> = {
  path: fc.oneof(hostileText, value),
  prompt: fc.oneof(hostileText, value),
  messages: fc.oneof(fc.array(message, { maxLength: 3 }), value),
  changes: fc.oneof(fc.array(change, { maxLength: 3 }), value),
  paths: fc.oneof(fc.array(hostileText, { minLength: 1, maxLength: 3 }), value),
  parameters: fc.oneof(fc.dictionary(fc.oneof(hostileText, fc.string()), value, { maxKeys: 3 }), value),
  configuration: fc.oneof(fc.dictionary(fc.constantFrom('prices', 'endpoint', 'x'), value), value),
  tools: fc.oneof(fc.array(hostileText, { maxLength: 3 }), value),
  scopes: fc.oneof(fc.subarray(['read', 'run', 'admin']), value),
  url: fc.oneof(fc.constantFrom('http://127.0.0.1:1', 'http://[::1]', 'file:///x', 'http://['), value),
}
const keys = [
  ...['name', 'title', 'description', 'force', 'path', 'prompt', 'baseHash', 'parameters', 'messages', 'userMessage'],
  ...[
    'tools',
    'stream',
    'background',
    'customIdentifier',
    'changes',
    'paths',
    'provider',
    'token',
    'url',
    'configuration',
  ],
  ...['defaultModel', 'defaultProvider', 'scopes', 'projectId', 'expiresAt', 'plan', 'limit'],
]
const override = fc
  .constantFrom(...keys)
  .chain((key) => (valuesOf[key] ?? value).map((each): [string, unknown] => [key, each]))
// A valid body with a few keys replaced gets past the outermost check, where a random one hardly ever does.
const bodyFor = (name: string) =>
  fc
    .array(override, { maxLength: 3 })
    .map((pairs) => JSON.stringify({ ...validBody[name], ...Object.fromEntries(pairs) }))
const queryKey = fc.constantFrom(
  ...[
    'status',
    'base',
    'prefix',
    'limit',
    'cursor',
    'from',
    'to',
    'customIdentifier',
    'documentUuid',
    'x',
    '__proto__',
  ],
)
const placeholders = (name: keyof Placeholders) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(known[name]) }, { weight: 1, arbitrary: hostileText })

describe('promise 16: no unexpected 500, and the body is always a documented one', () => {
  for (const route of contractRoutes) {
    it(`${route.method} ${route.path}`, async () => {
      // Fuzzing must not revoke the key that it uses, nor grow without bound.
      const input = fc.record({
        projectId: placeholders('projectId'),
        versionUuid: placeholders('versionUuid'),
        path: placeholders('path'),
        conversationUuid: placeholders('conversationUuid'),
        evaluationUuid: placeholders('evaluationUuid'),
        id: fc.constantFrom('0', '-1', 'x', '\u0000', '2147483647', '2147483648', '99999999999999999999'),
        query: fc.dictionary(queryKey, hostileText, { maxKeys: 2 }),
        etag: fc.option(fc.constantFrom('*', '"x"', 'x', '"', '\u00ff'), { nil: undefined }),
        body: fc.oneof({ weight: 5, arbitrary: bodyFor(route.name) }, { weight: 1, arbitrary: fc.json() }),
      })
      await fc.assert(
        fc.asyncProperty(input, (each) => expectDocumented(route, each)),
        { numRuns: casesPerRoute },
      )
    })
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
  if (answer.status >= 400) expect(ErrorBody.safeParse(answer.body).error).toBeUndefined()
}
