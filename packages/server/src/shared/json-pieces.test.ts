import fc from 'fast-check'
import { expect, it } from 'vitest'
import { charactersIn, heldBytes, jsonPieces } from './json-pieces.ts'

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
