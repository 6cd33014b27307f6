import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isNestedDeeper } from './json-depth.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

it('agrees with what the text parses to', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a', '\u00e9', ',') })
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 8 }, text, fc.integer(), fc.array(tie('value')), fc.dictionary(text, tie('value'))),
  }))
  fc.assert(
    fc.property(value, (given) => {
      const json = bytes(JSON.stringify(given))
      const depth = depthOf(given)
      expect(isNestedDeeper(json, depth)).toBe(false)
      if (depth > 0) expect(isNestedDeeper(json, depth - 1)).toBe(true)
    }),
  )
})

it.each(['"[[[', '"\\', '"\\"[[[', ']]]', ''])('says no for what is no nesting: %s', (text) => {
  expect(isNestedDeeper(bytes(text), 1)).toBe(false)
})
