import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { charactersIn, exceededBound, heldBytes, type JsonBounds, JsonMeter, jsonPieces } from './json-limits.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const unbounded: JsonBounds = { depth: 1_000, values: 1_000_000, keys: 1_000_000 }
const exceeded = (json: string, bounds: Partial<JsonBounds>) => exceededBound(bytes(json), { ...unbounded, ...bounds })

const childrenOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...childrenOf(value).map(depthOf))
}

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = childrenOf(value)
  return Math.max(1, children.length) + children.reduce<number>((sum, child) => sum + valuesOf(child), 0)
}

function keysOf(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  if (!Array.isArray(value)) for (const key of Object.keys(value)) found.add(key)
  for (const child of childrenOf(value)) keysOf(child, found)
  return found
}

it('counts the same values and keys as the parsed JSON', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', '\u00e9', ',', ':') })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 8 }, text, fc.integer(), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1), (given, indent) => {
      const json = JSON.stringify(given, null, indent)
      const bounds = { depth: depthOf(given), values: valuesOf(given), keys: keysOf(given).size }
      expect(exceeded(json, bounds)).toBeUndefined()
      for (const bound of ['depth', 'values', 'keys'] as const) {
        if (bounds[bound] > 0) expect(exceeded(json, { [bound]: bounds[bound] - 1 })).toBe(bound)
      }
    }),
  )
})

it('counts the same for chunks of any length', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', 'a', ',', ':') })
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(text), fc.integer({ min: 1, max: 9 }), (value, texts, length) => {
      const json = bytes(JSON.stringify([value, texts]))
      const [whole, parts] = [new JsonMeter(unbounded), new JsonMeter(unbounded)]
      whole.add(json)
      for (let start = 0; start < json.length; start += length) parts.add(json.subarray(start, start + length))
      expect(parts).toEqual(whole)
      expect(parts.members).toBe(whole.members)
      const values = valuesOf([value, texts])
      const bounded = new JsonMeter({ ...unbounded, values: values - 1 })
      let exceededIn: string | undefined
      for (let start = 0; start < json.length; start += length) {
        exceededIn ??= bounded.add(json.subarray(start, start + length))
      }
      expect(exceededIn).toBe('values')
    }),
  )
})

describe('keys', () => {
  it('counts a repeated key once', () => {
    expect(exceeded(`[${Array(50).fill('{"a":1,"b":2}').join(',')}]`, { keys: 2 })).toBeUndefined()
    expect(exceeded('[{"a":1},{"b":2},{"c" : 3}]', { keys: 2 })).toBe('keys')
  })
})

it.each(['"[[[', '"\\', '"\\"[[[', ']]]', '', ':::', '"a'])('counts nothing in invalid JSON: %s', (text) => {
  expect(exceeded(text, { depth: 1, values: 1, keys: 5 })).toBeUndefined()
})

const joined = (value: unknown) => [...jsonPieces(value)].join('')
const long = '"\u{1f600}\\ü\u2028'.repeat(20_000)

it.each([
  ['a text', long],
  ['a text with a surrogate pair at the end of a piece', `x${'\u{1f600}'.repeat(100_000)}`],
  ['lone surrogates', '\ud83d'.repeat(100_000)],
  ['a list', [long, null, undefined, [long], {}]],
  ['a map', { a: long, 'ke"y': { b: [long] }, none: undefined, n: 1, empty: '' }],
  ['many small texts', Array.from({ length: 5_000 }, (_, n) => ({ n, text: 'x'.repeat(30) }))],
  ['nothing', undefined],
])('joins to the same text as JSON.stringify, in small pieces: %s', (_name, value) => {
  expect(joined(value) === JSON.stringify(value ?? null)).toBe(true)
  expect(Math.max(...[...jsonPieces(value)].map((piece) => piece.length))).toBeLessThan(500_000)
})

it('serializes values nested deeper than recursive generators support', () => {
  let value: unknown = long
  for (let level = 0; level < 3_000; level += 1) value = level % 2 === 0 ? [value] : { value }
  expect(joined(value) === JSON.stringify(value)).toBe(true)
})

it('measures JSON of any depth without a stack overflow', () => {
  const levels = 100_000
  const value: unknown = JSON.parse(`${'{"a":['.repeat(levels)}"text"${']}'.repeat(levels)}`)
  expect(charactersIn(value)).toBe(4)
  expect(heldBytes(value)).toBe(levels * (32 + 8 + 1 + 32 + 8) + 16 + 2 * 4)
})

it('stops measuring once the limit is exceeded', () => {
  const value = { a: 'xx', b: [{ c: 'x' }, null, 1, undefined, 'xxx'] }
  expect(charactersIn(value)).toBe(6)
  expect(charactersIn(value, 3)).toBeGreaterThan(3)
  expect(heldBytes(new Uint8Array(5))).toBe(5)
  expect(heldBytes([undefined, null])).toBe(32 + 4 * 8)
})

it('joins to the same text for any JSON', () => {
  const padding = 'x'.repeat(70_000)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => joined({ padding, value }) === JSON.stringify({ padding, value })),
    { numRuns: 50 },
  )
})
