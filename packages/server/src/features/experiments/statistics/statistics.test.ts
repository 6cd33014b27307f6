import { describe, expect, test } from 'vitest'
import { binomialMasses, upperTail } from './binomial.ts'
import { type PairedCounts, pairedDifference } from './paired-difference.ts'
import { signTest, signTestPower } from './sign-test.ts'
import { studentQuantile } from './student-t.ts'

test.each([
  // Broken and fixed rows, and the chance of a fair coin.
  [5, 0, 1 / 32],
  [4, 0, 1 / 16],
  [7, 1, 9 / 256],
  [6, 1, 8 / 128],
  [9, 2, 67 / 2048],
  [8, 2, 56 / 1024],
  [3, 5, 219 / 256],
  [0, 9, 1],
  [0, 0, 1],
])('%i broke, %i fixed: p = %d', (broke, fixed, p) => {
  expect(signTest({ broke, fixed })).toBeCloseTo(p, 12)
})

test('the binomial masses of large numbers do not underflow', () => {
  const masses = binomialMasses(5_000, 0.5)
  expect(upperTail(masses, 0)).toBeCloseTo(1, 12)
  // A symmetric distribution: half of it is above the middle, without half of the middle's mass.
  expect(upperTail(masses, 2_501)).toBeCloseTo((1 - (masses[2_500] ?? 0)) / 2, 12)
  expect([...binomialMasses(3, 0)]).toEqual([1, 0, 0, 0])
  expect([...binomialMasses(3, 1)]).toEqual([0, 0, 0, 1])
})

test.each([
  // Abramowitz and Stegun, table 26.10, and further published digits.
  [1, 12.7062, 6.3138],
  [2, 4.3027, 2.92],
  [5, 2.5706, 2.015],
  [10, 2.2281, 1.8125],
  [51, 2.0076, 1.6753],
  [120, 1.9799, 1.6577],
  [1_001, 1.9623, 1.6464],
])('t with %i degrees of freedom', (freedom, twoSided, oneSided) => {
  expect(studentQuantile(0.975, freedom)).toBeCloseTo(twoSided, 4)
  expect(studentQuantile(0.95, freedom)).toBeCloseTo(oneSided, 4)
})

test('3 broke and 5 fixed of 50', () => {
  const { value, low, high, halfWidth } = pairedDifference({ broke: 3, fixed: 5, same: 42 }) ?? {}
  expect([value, low, high, halfWidth].map((share) => Math.round((share ?? 0) * 100))).toEqual([4, -8, 16, 12])
})

test('there is no difference without rows, and it stays inside the range with few', () => {
  expect(pairedDifference({ broke: 0, fixed: 0, same: 0 })).toBeNull()
  expect(pairedDifference({ broke: 1, fixed: 0, same: 0 })).toMatchObject({ value: -1, low: -1, lowOneSided: -1 })
})

describe('the sign test as a gate', () => {
  test.each([
    // The table of the guide: rows, share that flips by chance, and how often a loss of 0, 10 and 20 points is refused.
    [30, 0.02, 0, 18, 69],
    [50, 0.02, 0, 50, 94],
    [100, 0.02, 0, 90, 100],
    [30, 0.1, 0.4, 17, 53],
    [50, 0.1, 1.2, 35, 81],
    [100, 0.1, 2.3, 68, 98],
  ])('%i rows, flips %d', (rows, flips, equal, ten, twenty) => {
    for (const [loss, percent] of [[0, equal] as const, [0.1, ten] as const, [0.2, twenty] as const]) {
      expect(Math.abs(signTestPower(rows, loss, flips) * 100 - percent)).toBeLessThanOrEqual(1)
    }
  })
})

type LowEnd = (counts: PairedCounts) => number

const real: LowEnd = (counts) => pairedDifference(counts)?.lowOneSided ?? -1
const trialsAsRows: LowEnd = ({ broke, fixed, same }) => real({ broke: broke * 3, fixed: fixed * 3, same: same * 3 })

function withoutPseudoRows({ broke, fixed, same }: PairedCounts): number {
  const rows = broke + fixed + same
  const mean = (fixed - broke) / rows
  const variance = (broke + fixed - rows * mean ** 2) / (rows - 1)
  return mean - studentQuantile(0.95, rows - 1) * Math.sqrt(variance / rows)
}

/** The chance of "not worse by `margin`", summed over all outcomes of rows that break and are fixed independently. */
function notWorse(rows: number, { breaks, fixes, margin }: Scenario, lowEnd: LowEnd): number {
  let chance = 0
  const changedShare = breaks + fixes
  for (const [changed, mass] of binomialMasses(rows, changedShare).entries()) {
    if (mass < 1e-9) continue
    for (const [broke, share] of binomialMasses(changed, breaks / changedShare).entries()) {
      const low = lowEnd({ broke, fixed: changed - broke, same: rows - changed })
      // More broken rows only lower the interval further.
      if (low < -margin) break
      chance += mass * share
    }
  }
  return chance
}

interface Scenario {
  breaks: number
  fixes: number
  margin: number
}

/** Each is worse by exactly the margin. */
const atTheMargin: [name: string, Scenario][] = [
  ['20 % of rows flip, margin 10', { breaks: 0.15, fixes: 0.05, margin: 0.1 }],
  ['10 % of rows flip, margin 5', { breaks: 0.075, fixes: 0.025, margin: 0.05 }],
  ['4 % of rows flip, of which 90 % passed', { breaks: 0.036, fixes: 0.004, margin: 0.032 }],
  ['98 % and 95 % pass, independently', { breaks: 0.049, fixes: 0.019, margin: 0.03 }],
]
const sizes = [10, 20, 30, 50, 100, 200, 300, 400, 1_000]

describe('wrongly "not worse" exactly at the margin', () => {
  test.each(atTheMargin)('%s: at most 6.5 %% at every number of rows', (_name, scenario) => {
    for (const rows of sizes) expect(notWorse(rows, scenario, real), `${rows} rows`).toBeLessThanOrEqual(0.065)
  })

  // The interval is a little too short if rows break and none is fixed by chance.
  test('at most 9 % if rows only break', () => {
    for (const margin of [0.03, 0.05, 0.1]) {
      const chances = sizes.map((rows) => notWorse(rows, { breaks: margin, fixes: 0, margin }, real))
      expect(Math.max(...chances), `margin ${margin}`).toBeLessThanOrEqual(0.09)
    }
  })

  test('the mutants without pseudo rows and with trials as rows exceed it', () => {
    const worst = (lowEnd: LowEnd, rows: number) =>
      Math.max(...atTheMargin.map(([, scenario]) => notWorse(rows, scenario, lowEnd)))
    expect(worst(withoutPseudoRows, 20)).toBeGreaterThan(0.4)
    expect(worst(trialsAsRows, 50)).toBeGreaterThan(0.15)
  })
})

test.each([
  // Equal quality: rows, share that flips, margin, percent that passes.
  [20, 0.2, 0.1, 17],
  [50, 0.2, 0.1, 43],
  [100, 0.2, 0.1, 71],
  [200, 0.2, 0.1, 94],
  [50, 0.1, 0.05, 21],
  [100, 0.1, 0.05, 44],
  [200, 0.1, 0.05, 70],
  [400, 0.1, 0.05, 93],
])('equal quality on %i rows of which %d flip is "not worse by %d" in %i %%', (rows, flips, margin, percent) => {
  const chance = notWorse(rows, { breaks: flips / 2, fixes: flips / 2, margin }, real)
  expect(Math.abs(chance * 100 - percent)).toBeLessThanOrEqual(1)
})

test.each([
  [0.1, 23],
  [0.05, 46],
  [0.03, 77],
])('rows without any difference are "not worse by %d" from %i rows on', (margin, rows) => {
  const lowEnd = (same: number) => real({ broke: 0, fixed: 0, same })
  expect(lowEnd(rows)).toBeGreaterThanOrEqual(-margin)
  expect(lowEnd(rows - 1)).toBeLessThan(-margin)
})
