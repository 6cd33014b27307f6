/** What a score means on its evaluation's scale. A score outside the scale is refused, never moved into it. */
import { unprocessable } from '../../shared/app-error.ts'
import { defaultRange, type Evaluation } from './evaluation.ts'

export interface ReadScore {
  /** An integer from 0 to 100. 100 is best, also on a reversed scale. */
  normalizedScore: number
  hasPassed: boolean
}

type Scale = Pick<Evaluation, 'metric' | 'configuration'>

/** @throws AppError UnprocessableEntityError with `details: {min, max}`. */
export function readScore(score: number, { metric, configuration }: Scale): ReadScore {
  return metric === 'binary' ? readBinary(score, configuration) : readRating(score, configuration)
}

function readBinary(score: number, { reverseScale }: Scale['configuration']): ReadScore {
  if (score !== 0 && score !== 1) throw unprocessable('The score must be 0 or 1', { min: 0, max: 1 })
  return { normalizedScore: normalise(score, 0, 1, reverseScale), hasPassed: score === (reverseScale ? 0 : 1) }
}

function readRating(score: number, configuration: Scale['configuration']): ReadScore {
  const { reverseScale, minRating: min, maxRating: max, ...thresholds } = { ...defaultRange, ...configuration }
  const { minThreshold = min, maxThreshold = max } = thresholds
  if (!(score >= min && score <= max)) throw unprocessable(`The score must be from ${min} to ${max}`, { min, max })
  const hasPassed = minThreshold <= score && score <= maxThreshold
  return { normalizedScore: normalise(score, min, max, reverseScale), hasPassed }
}

function normalise(score: number, min: number, max: number, reverseScale: boolean): number {
  const [lower, upper] = reverseScale ? [max, min] : [min, max]
  const percent = (Math.abs(score - lower) * 100) / Math.abs(upper - lower)
  // Decimals are inexact in binary: 1.14 on a scale of 1 to 5 is 3.5 %, but computes slightly less.
  return Math.round(Number(percent.toFixed(9)))
}
