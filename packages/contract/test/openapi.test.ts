import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildDocument, renderDocument } from '../scripts/openapi-document.ts'
import { listRoutes, operatorRoutes } from '../src/index.ts'

const document = buildDocument()

test('openapi.json matches the contract', () => {
  const checkedIn = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
  expect(checkedIn === renderDocument(), 'run `pnpm --filter @stet/contract openapi`').toBe(true)
})

test('the document describes every route and resolves every reference', () => {
  const text = JSON.stringify(document)
  for (const { router, name } of listRoutes()) expect(text).toContain(`"operationId":"${router}.${name}"`)
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => String(match[1]).split('/'))
  expect(references.length).toBeGreaterThan(100)
  for (const reference of references) expect(resolve(document, reference), reference.join('/')).toBeTypeOf('object')
  expect(text).not.toContain('$defs')
})

test('a run documents its event stream response', () => {
  const run = resolve(document, ['paths', '/projects/{projectId}/versions/{versionUuid}/documents/run', 'post'])
  expect(run).toMatchObject({
    requestBody: { required: true },
    responses: {
      200: { content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/RunEvent' } } } },
      422: { $ref: '#/components/responses/422', description: expect.stringContaining('parameters are missing') },
    },
  })
})

test("each error of a route describes the route's causes", () => {
  const publish = ['paths', '/projects/{projectId}/versions/{versionUuid}/publish', 'post', 'responses']
  const { description } = resolve(document, [...publish, '404']) as { description: string }
  expect(description).toBe('The project is unknown.')
})

test('headers are parameters and response headers', () => {
  const attach = resolve(document, ['paths', '/conversations/{conversationUuid}/attach', 'post'])
  const names = ['X-Request-Id', 'Content-Encoding', 'X-Latitude-SDK-Version', 'Last-Event-ID']
  expect(attach).toMatchObject({
    parameters: [
      { name: 'conversationUuid', in: 'path' },
      ...names.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    responses: { 200: { headers: { 'X-Conversation-Uuid': {}, 'X-RateLimit-Remaining': {} } } },
  })
  expect(resolve(document, ['components', 'parameters', 'Last-Event-ID'])).toMatchObject({ in: 'header' })
  expect(resolve(document, ['components', 'responses', '429'])).toMatchObject({ headers: { 'Retry-After': {} } })
})

test('the document lists the routes outside the API at their own path', () => {
  for (const { path } of Object.values(operatorRoutes)) {
    const { servers, get } = resolve(document, ['paths', path]) as { servers: unknown; get: unknown }
    expect(servers).toEqual([{ url: '/' }])
    expect(get).toMatchObject({ responses: { 200: {}, 500: {} } })
  }
})

test('message content is a string or a list of parts', () => {
  const content = resolve(document, ['components', 'schemas', 'MessageInput', 'properties', 'content'])
  expect(content).toEqual({
    anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/components/schemas/MessagePart' } }],
  })
})

function resolve(node: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], node)
}
