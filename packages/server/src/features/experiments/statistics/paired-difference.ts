/**
 * The interval of a difference of pass rates over the same rows: Student's t over the differences of the rows and two
 * pseudo rows, +1 and −1. It is the adjusted Wald interval of Bonett and Price (2012) for matched pairs, with t in
 * place of z. With few rows most differences are 0, and without the pseudo rows the interval has almost no width.
 */
import { studentQuantile } from './student-t.ts'

const pseudoRows = 2

/** Each row counts once, so a row with several trials has one outcome. */
export interface PairedCounts {
  broke: number
  fixed: number
  same: number
}

export interface PairedDifference {
  /** The difference of the pass rates themselves, without the pseudo rows. */
  value: number
  low: number
  high: number
  halfWidth: number
  /** The lower end of the one-sided 95 % interval. */
  lowOneSided: number
}

/** Returns null without rows. */
export function pairedDifference({ broke, fixed, same }: PairedCounts): PairedDifference | null {
  const rows = broke + fixed + same
  if (rows === 0) return null
  const count = rows + pseudoRows
  const mean = (fixed - broke) / count
  const squares = broke + fixed + pseudoRows
  const error = Math.sqrt((squares - count * mean ** 2) / (count - 1) / count)
  const halfWidth = studentQuantile(0.975, count - 1) * error
  return {
    value: (fixed - broke) / rows,
    low: Math.max(-1, mean - halfWidth),
    high: Math.min(1, mean + halfWidth),
    halfWidth,
    lowOneSided: Math.max(-1, mean - studentQuantile(0.95, count - 1) * error),
  }
}
