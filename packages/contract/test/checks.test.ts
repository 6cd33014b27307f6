import { expect, test } from 'vitest'
import { Check } from '../src/index.ts'
import { CHECK_LIMITS } from '../src/vocabulary/limits.ts'

const schema = (inner: object) => ({ type: 'json_schema', schema: inner })

test.each([
  [{ type: 'exact' }],
  [{ type: 'exact', value: { a: [1] }, field: '/a~1b/~0' }],
  [{ type: 'exact', value: false, field: '' }],
  [{ type: 'contains', all: ['x'], negate: true }],
  [{ type: 'regex', pattern: '^(a+)+$', flags: 'imsu' }],
  [{ type: 'regex', pattern: 'é'.repeat(CHECK_LIMITS.patternBytes / 2) }],
  [schema({ $ref: '#/$defs/a', $defs: { a: { properties: { $ref: { type: 'string' } } } } })],
  [{ type: 'cost', max: 0 }],
  [{ type: 'latency', max: 1_500, negate: true }],
])('accepts %j', (check) => {
  expect(Check.parse(check)).toEqual(check)
})

test.each([
  [{ type: 'similar' }, 'type'],
  [{ type: 'exact', field: 'a' }, 'field'],
  [{ type: 'exact', field: '/~2' }, 'field'],
  [{ type: 'exact', value: 'x'.repeat(CHECK_LIMITS.schemaBytes) }, 'value'],
  [{ type: 'contains', all: [] }, 'all'],
  [{ type: 'contains', all: [''] }, 'all'],
  [{ type: 'contains', any: Array(CHECK_LIMITS.texts + 1).fill('x') }, 'any'],
  [{ type: 'contains', all: ['a'], any: ['b'] }, 'any'],
  [{ type: 'regex' }, 'pattern'],
  [{ type: 'regex', pattern: '(' }, 'pattern'],
  [{ type: 'regex', pattern: 'é'.repeat(CHECK_LIMITS.patternBytes / 2 + 1) }, 'pattern'],
  [{ type: 'regex', pattern: 'a', flags: 'g' }, 'flags'],
  [{ type: 'regex', pattern: 'a', flags: 'ii' }, 'flags'],
  [schema([]), 'schema'],
  [schema({ items: { $ref: 'https://example.com/a.json' } }), 'schema'],
  [schema({ allOf: [{ $dynamicRef: 'other.json#a' }] }), 'schema'],
  [schema({ description: 'x'.repeat(CHECK_LIMITS.schemaBytes) }), 'schema'],
  [{ type: 'cost' }, 'max'],
  [{ type: 'latency', max: -1 }, 'max'],
])('refuses %j at %s', (check, key) => {
  expect(Check.safeParse(check).error?.issues[0]?.path[0]).toBe(key)
})

test('reads null as absent', () => {
  expect(Check.parse({ type: 'exact', value: null, field: null })).toEqual({ type: 'exact' })
})
