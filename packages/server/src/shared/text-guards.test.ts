import { describe, expect, it } from 'vitest'
import { refuseText, refuseValue, storableJson } from './text-guards.ts'

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}

describe('refuseText', () => {
  it('refuses NUL and lone surrogates, but accepts surrogate pairs', () => {
    expect(refuseText('a\u0000b')).toContain('NUL')
    expect(refuseText('\ud800')).toContain('surrogates')
    expect(refuseText('x\udc00y')).toContain('surrogates')
    expect(refuseText('😀 \u202e ok')).toBeUndefined()
  })
})

describe('refuseValue', () => {
  it('accepts plain data, including constructor and prototype keys', () => {
    expect(refuseValue({ constructor: 1, prototype: [null, true, 'x', -0.5] })).toBeUndefined()
  })

  it.each([
    ['{"a":[{"b":"\\u0000"}]}', ['a', 0, 'b'], 'NUL'],
    ['{"a":{"\\ud800":1}}', ['a'], 'surrogates'],
    ['{"a":{"__proto__":{"x":1}}}', ['a'], '__proto__'],
    ['[1,1e400]', [1], 'finite'],
  ])('includes the path of %s', (json, path, reason) => {
    const refusal = refuseValue(JSON.parse(json))
    expect(refusal?.path).toEqual(path)
    expect(refusal?.reason).toContain(reason)
  })

  it('allows 64 levels and refuses deeper values', () => {
    expect(refuseValue(nested(64))).toBeUndefined()
    expect(refuseValue(nested(65))?.reason).toContain('64')
    expect(refuseValue(nested(5_000))?.reason).toContain('64')
  })
})

describe('storableJson', () => {
  it('returns storable values unchanged', () => {
    const value = { text: 'ü \u{1F600} \\u0000 \\ud83d', list: [1, null, true] }
    expect(storableJson(value)).toBe(JSON.stringify(value))
  })

  it('replaces NUL and lone surrogates, including in keys', () => {
    const repaired = JSON.parse(storableJson({ 'a\u0000': ['x\ud83d', '\ude00y', '\u{1F600}\u0000'] }))
    expect(repaired).toEqual({ 'a\ufffd': ['x\ufffd', '\ufffdy', '\u{1F600}\ufffd'] })
  })
})
