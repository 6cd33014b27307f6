import { expect, test } from 'vitest'
import { axisEnd, stepTicks } from './scale.ts'

const hour = 3_600_000
const steps = (from: string, count: number, ms: number) =>
  Array.from({ length: count }, (_, index) => Date.parse(from) + index * ms)

test.each([
  ['hours', steps('2026-11-12T00:00:00Z', 25, hour), 3600],
  ['5 minutes', steps('2026-11-12T10:20:00Z', 13, hour / 12), 300],
  ['days', steps('2026-08-20T00:00:00Z', 91, 24 * hour), 86_400],
])('ticks of %s are steps at equal distances, and no more than fit', (_, all, seconds) => {
  const ticks = stepTicks(all, seconds, 8)
  expect(ticks.length).toBeGreaterThan(2)
  expect(ticks.length).toBeLessThanOrEqual(9)
  expect(ticks.filter((at) => !all.includes(at))).toEqual([])
  const distances = ticks.slice(1).map((at, index) => at - (ticks[index] ?? 0))
  expect(new Set(distances).size).toBe(1)
})

test('an axis has room above the largest value, also without one', () => {
  expect(axisEnd(null)).toBe(1)
  expect(axisEnd(0)).toBe(1)
  expect(axisEnd(100)).toBeGreaterThan(100)
})
