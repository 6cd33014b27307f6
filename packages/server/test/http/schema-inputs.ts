/** Inputs of a route made from its schema in the contract: mostly what it asks for, here and there something hostile. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { WalkedRoute } from './contract-routes.ts'

/** As much of JSON Schema as the contract's document uses. */
interface Schema {
  $ref?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minimum?: number
  maximum?: number
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = JSON.parse(
  readFileSync(new URL('../../../contract/openapi.json', import.meta.url), 'utf8'),
) as Document
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))

export const hostileText = fc.constantFrom(
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
  'http://127.0.0.1:1',
  'http://[::1]',
  'file:///x',
  'http://[',
)
const text = fc.oneof({ weight: 3, arbitrary: hostileText }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) })
const number = fc.oneof(
  fc.constantFrom(0, -1, 1, 2_147_483_647, 2_147_483_648, -0, 1e308, 0.5),
  fc.integer(),
  fc.double(),
)
const anything = fc.oneof(
  { weight: 4, arbitrary: fc.oneof(text, number, fc.boolean(), fc.constant(null)) },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(text, fc.oneof(text, number), { maxKeys: 3 }) },
)

/** The body of a route; undefined when its schema has none. */
export function bodyOf(route: WalkedRoute): fc.Arbitrary<unknown> | undefined {
  const schema = operationOf(route).requestBody?.content['application/json']?.schema
  return schema && fc.oneof({ weight: 20, arbitrary: arbitraryOf(schema, 0) }, { weight: 1, arbitrary: anything })
}

/** Query parameters, known and unknown. */
export function queryOf(route: WalkedRoute): fc.Arbitrary<Record<string, string>> {
  const known = (operationOf(route).parameters ?? []).filter((each) => each.in === 'query')
  const pairs = known.map(({ name, schema }) =>
    arbitraryOf(schema, 0).map((value) => [name, queryText(value)] as const),
  )
  const others = fc.tuple(fc.constantFrom('x', '__proto__', 'constructor'), hostileText)
  return fc.subarray([...pairs, others]).chain((chosen) => fc.tuple(...chosen).map(Object.fromEntries))
}

function queryText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function operationOf({ name }: WalkedRoute): Operation {
  const found = operations.find(({ operationId }) => operationId === name)
  if (!found) throw new Error(`The API description has no operation ${name}`)
  return found
}

// One value in fifteen is of any other kind: bodies of several keys then still get past their schema as a rule.
function arbitraryOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 14, arbitrary: wantedOf(schema, depth) }, { weight: 1, arbitrary: anything })
}

function wantedOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return depth > 8 ? anything : wantedOf(document.components.schemas[name] ?? {}, depth + 1)
  }
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((each) => wantedOf(each, depth + 1)))
  if (schema.allOf) return fc.tuple(...schema.allOf.map((each) => wantedOf(each, depth + 1))).map(merged)
  const [type] = [schema.type].flat()
  switch (type) {
    case 'object':
      return schema.properties
        ? objectOf(schema.properties, schema.required ?? [], depth)
        : fc.dictionary(text, anything, { maxKeys: 3 })
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}, depth + 1), { maxLength: 3 })
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 100 } = schema
      return fc.oneof(
        fc.integer({ min: Math.ceil(minimum), max: Math.max(Math.ceil(minimum), Math.min(maximum, 2 ** 31)) }),
        number,
      )
    }
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return text
    default:
      return anything
  }
}

function objectOf(properties: Record<string, Schema>, required: string[], depth: number): fc.Arbitrary<unknown> {
  const values = Object.entries(properties).map(([key, each]) => [key, arbitraryOf(each, depth + 1)] as const)
  return fc.record(Object.fromEntries(values), { requiredKeys: required.filter((key) => key in properties) })
}

function merged(parts: unknown[]): unknown {
  return Object.assign({}, ...parts.map((part) => (typeof part === 'object' ? part : {})))
}
