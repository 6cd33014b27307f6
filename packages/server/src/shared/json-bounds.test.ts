import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exceededBound, type JsonBounds, JsonMeter } from './json-bounds.ts'

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
