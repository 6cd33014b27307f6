import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refuse } from '../../shared/app-error.ts'
import { completeConfiguration, type EvaluationConfiguration, readScore } from './evaluation.ts'

describe('evaluation configuration', () => {
  it('has defaults', () => {
    expect(completeConfiguration('binary', {})).toEqual({ reverseScale: false })
    expect(completeConfiguration('rating', {})).toEqual({ reverseScale: false, minRating: 1, maxRating: 5 })
  })

  it('keeps given values', () => {
    const given = { reverseScale: true, criteria: 'c', minRating: 0, maxRating: 10, minThreshold: 0, maxThreshold: 10 }
    expect(completeConfiguration('rating', given)).toEqual(given)
  })

  it('has no range for a binary evaluation', () => {
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
  ])('refuses %o at %s', (configuration, key) => {
    const path = ['configuration', key]
    const refusal = { reason: 'invalid-body', details: { issues: [expect.objectContaining({ path })] } }
    expect(() => completeConfiguration('rating', configuration)).toThrow(expect.objectContaining(refusal))
  })
})

const rating = (configuration: Partial<EvaluationConfiguration> = {}) => ({
  metric: 'rating' as const,
  configuration: completeConfiguration('rating', configuration),
})
const binary = (reverseScale = false) => ({ metric: 'binary' as const, configuration: { reverseScale } })

describe('binary scores', () => {
  it.each([
    [1, false, 100, true],
    [0, false, 0, false],
    [1, true, 0, false],
    [0, true, 100, true],
  ])('reads score %s, reversed %s', (score, reversed, normalizedScore, hasPassed) => {
    expect(readScore(score, binary(reversed))).toEqual({ normalizedScore, hasPassed })
  })

  it.each([0.5, -1, 2, Number.NaN])('refuses %s', (score) => {
    expect(() => readScore(score, binary())).toThrow(refuse('score-not-binary', { min: 0, max: 1 }))
  })
})

describe('ratings', () => {
  it.each([
    [1, {}, 0, true],
    [5, {}, 100, true],
    [2, {}, 25, true],
    [2.5, {}, 38, true],
    [2, { reverseScale: true }, 75, true],
    [1, { reverseScale: true }, 100, true],
    [3, { minThreshold: 4 }, 50, false],
    [4, { minThreshold: 4 }, 75, true],
    [4, { maxThreshold: 3 }, 75, false],
    [0, { minRating: -10, maxRating: 10 }, 50, true],
    [0.2, { minRating: 0, maxRating: 0.3 }, 67, true],
    // These percentages end in exactly .5, which floating point computes inexactly.
    [1.14, {}, 4, true],
    [4.02, {}, 76, true],
    [4.98, { reverseScale: true }, 1, true],
    [-4.95, { minRating: -5, maxRating: 5 }, 1, true],
  ])('normalizes %s with %o', (score, configuration, normalizedScore, hasPassed) => {
    expect(readScore(score, rating(configuration))).toEqual({ normalizedScore, hasPassed })
  })

  it.each([0.999, 5.001, Number.POSITIVE_INFINITY, Number.NaN])('refuses %s instead of clamping it', (score) => {
    const refusal = refuse('score-out-of-range', { min: 1, max: 5 })
    expect(() => readScore(score, rating())).toThrow(refusal)
  })

  it('normalizes to whole numbers from 0 to 100 and mirrors a reversed scale', () => {
    const number = fc.double({ min: -1e9, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(number, number, number, (one, two, three) => {
        const [min = 0, score = 0, max = 0] = [one, two, three].sort((a, b) => a - b)
        fc.pre(min < max)
        const range = { minRating: min, maxRating: max }
        const { normalizedScore } = readScore(score, rating(range))
        const mirrored = readScore(score, rating({ ...range, reverseScale: true })).normalizedScore
        expect(Number.isInteger(normalizedScore) && normalizedScore >= 0 && normalizedScore <= 100).toBe(true)
        expect(Math.abs(normalizedScore + mirrored - 100)).toBeLessThanOrEqual(1)
      }),
    )
  })
})
