import { describe, expect, it } from 'vitest'
import { bearerToken } from './admit.ts'

describe('bearerToken', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['Bearer', undefined],
    ['Bearer   ', undefined],
    ['Bearer abc', 'abc'],
    ['bEaReR   abc', 'abc'],
    ['Basic abc', 'Basic abc'],
    ['abc', undefined],
  ])('%s', (header, token) => {
    expect(bearerToken(header)).toBe(token)
  })
})
