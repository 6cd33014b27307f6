import { expect, it } from 'vitest'
import { storableJson } from './storable-json.ts'

it('leaves what the database can hold as it is', () => {
  const value = { text: 'ü \u{1F600} \\u0000 \\ud83d', list: [1, null, true] }
  expect(storableJson(value)).toBe(JSON.stringify(value))
})

it('replaces NUL and lone surrogates, in keys too', () => {
  const repaired = JSON.parse(storableJson({ 'a\u0000': ['x\ud83d', '\ude00y', '\u{1F600}\u0000'] }))
  expect(repaired).toEqual({ 'a\ufffd': ['x\ufffd', '\ufffdy', '\u{1F600}\ufffd'] })
})
