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

test('the document lists the routes outside the API at their own path', () => {
  for (const { path } of Object.values(operatorRoutes)) {
    const { servers, get } = resolve(document, ['paths', path]) as { servers: unknown; get: unknown }
    expect(servers).toEqual([{ url: '/' }])
    expect(get).toMatchObject({ responses: { 200: {}, 500: {} } })
  }
})

function resolve(node: unknown, path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], node)
}
