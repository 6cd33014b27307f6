import { describe, expect, it } from 'vitest'
import { completeConfiguration } from './evaluation.ts'

describe('the configuration of an evaluation', () => {
  it('gets its defaults', () => {
    expect(completeConfiguration('binary', {})).toEqual({ reverseScale: false })
    expect(completeConfiguration('rating', {})).toEqual({ reverseScale: false, minRating: 1, maxRating: 5 })
  })

  it('keeps what was given', () => {
    const given = { reverseScale: true, criteria: 'c', minRating: 0, maxRating: 10, minThreshold: 0, maxThreshold: 10 }
    expect(completeConfiguration('rating', given)).toEqual(given)
  })

  it('of a binary one has no range', () => {
    expect(completeConfiguration('binary', { minRating: 9, maxRating: 1, passDescription: 'p' })).toEqual({
      reverseScale: false,
      passDescription: 'p',
    })
  })

  it.each([
    [{ minRating: 5 }, 'maxRating'],
    [{ minRating: 3, maxRating: 2 }, 'maxRating'],
    [{ minThreshold: 0 }, 'minThreshold'],
    [{ minThreshold: 6 }, 'minThreshold'],
    [{ maxThreshold: 0 }, 'maxThreshold'],
    [{ maxThreshold: 6 }, 'maxThreshold'],
    [{ minThreshold: 4, maxThreshold: 2 }, 'maxThreshold'],
  ])('%o is refused at %s', (configuration, key) => {
    const path = ['configuration', key]
    const refusal = { code: 'BadRequestError', details: { issues: [expect.objectContaining({ path })] } }
    expect(() => completeConfiguration('rating', configuration)).toThrow(expect.objectContaining(refusal))
  })
})
