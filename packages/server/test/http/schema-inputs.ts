/** Generates inputs for a route from its contract schema. Most are valid, some hostile. */
import fc from 'fast-check'
import { componentOf, operationOf, type Schema } from './api-description.ts'
import type { WalkedRoute } from './contract-routes.ts'

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
// Any code point except surrogates. fast-check's unit 'binary' is equivalent, but spends seconds on a table of a
// million entries.
const unit = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))
const text = fc.oneof({ weight: 3, arbitrary: hostileText }, { weight: 1, arbitrary: fc.string({ unit }) })
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

const versions = fc.constantFrom('', '4.1.9', '5.0.0', '5.1.2-beta.1', '5.10.0', 'x', '99999999999999999999.0.0')
const etags = fc.constantFrom('*', '"x"', 'x', '"', '\u00ff', 'W/"x", "y"', ',')
const headerValues: Record<string, fc.Arbitrary<string>> = {
  'idempotency-key': fc.oneof(
    { weight: 3, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', 'a', '~'.repeat(255), 'x'.repeat(256), '\u00e9') },
  ),
  'last-event-id': fc.constantFrom('', '0', '1', '-1', ' 2 ', 'x', '1e3', '9007199254740993'),
  'if-match': etags,
  'if-none-match': etags,
  'x-latitude-sdk-version': versions,
  'x-stet-sdk-version': versions,
  'x-retry-count': fc.constantFrom('', '0', '3', '-1', 'x'),
  'x-request-id': fc.constantFrom('', 'mine-1', 'two words', 'x'.repeat(129)),
  'content-encoding': fc.constantFrom('identity', 'gzip', 'zstd'),
  origin: fc.constantFrom('null', 'https://example.com'),
}

export const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc
  .subarray(Object.entries(headerValues), { maxLength: 3 })
  .chain((chosen) => fc.tuple(...chosen.map(([name, value]) => value.map((text) => [name, text] as const))))
  .map((pairs) => Object.fromEntries(pairs))

export function bodyOf(route: WalkedRoute): fc.Arbitrary<unknown> | undefined {
  const schema = operationOf(route).requestBody?.content['application/json']?.schema
  return schema && fc.oneof({ weight: 20, arbitrary: arbitraryOf(schema, 0) }, { weight: 1, arbitrary: anything })
}

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

// Only one value in fifteen has a wrong type, so bodies with several keys usually still match their schema.
function arbitraryOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 14, arbitrary: wantedOf(schema, depth) }, { weight: 1, arbitrary: anything })
}

function wantedOf(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    return depth > 8 ? anything : wantedOf(componentOf(schema.$ref), depth + 1)
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
