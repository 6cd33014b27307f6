import { expect, it } from 'vitest'
import { parsePartialJson } from '../src/views/partial-json.ts'

const VALUE = { a: 'x"\\\n\u00e9', 'b,{': [1, -2.5e3, [], {}, null], c: { d: true, e: [{ f: 'g' }] } }

it.each([
  ['', undefined],
  [' ', undefined],
  ['tr', undefined],
  ['{', {}],
  ['{"a', {}],
  ['{"a":', {}],
  ['{"a":1.', { a: 1 }],
  ['{"a":1,', { a: 1 }],
  ['{"a":"b\\u00', { a: 'b' }],
  ['[1,[2,{"a":"b', [1, [2, { a: 'b' }]]],
  ['Hello', undefined],
])('%j', (text, expected) => {
  expect(parsePartialJson(text)).toEqual(expected)
})

it('every prefix of an object parses to an object, and the full text to itself', () => {
  const text = JSON.stringify(VALUE)
  for (let end = 1; end < text.length; end++) expect(parsePartialJson(text.slice(0, end))).toBeTypeOf('object')
  expect(parsePartialJson(text)).toEqual(VALUE)
})
