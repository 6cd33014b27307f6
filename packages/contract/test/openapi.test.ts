import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildDocument, renderDocument } from '../scripts/openapi-document.ts'
import { listRoutes } from '../src/index.ts'

test('openapi.json is what the contract says', () => {
  const checkedIn = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
  expect(checkedIn === renderDocument(), 'run `pnpm --filter @stet/contract openapi`').toBe(true)
})

test('every route is described, with every reference resolved', () => {
  const document = buildDocument()
  const text = JSON.stringify(document)
  for (const { router, name } of listRoutes()) expect(text).toContain(`"operationId":"${router}.${name}"`)
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => String(match[1]).split('/'))
  expect(references.length).toBeGreaterThan(100)
  for (const reference of references) expect(resolve(document, reference), reference.join('/')).toBeTypeOf('object')
  expect(text).not.toContain('$defs')
})

test('a run can answer with events, and says so', () => {
  const run = resolve(buildDocument(), ['paths', '/projects/{projectId}/versions/{versionUuid}/documents/run', 'post'])
  expect(run).toMatchObject({
    requestBody: { required: true },
    responses: {
      200: { content: { 'text/event-stream': { schema: { $ref: '#/components/schemas/RunEvent' } } } },
      422: { $ref: '#/components/responses/422' },
    },
  })
})

test('messages are described as callers may send them', () => {
  const content = resolve(buildDocument(), ['components', 'schemas', 'MessageInput', 'properties', 'content'])
  expect(content).toEqual({
    anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/components/schemas/MessagePart' } }],
  })
})

function resolve(node: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], node)
}
