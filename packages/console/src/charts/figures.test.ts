import { expect, test } from 'vitest'
import { costOf, spendOf } from './figures.ts'

const figures = (runs: number, cost: number | null, unpriced = 0) => ({
  ...{ runs, cost, unpriced, errors: 0, stopped: 0, estimated: 0 },
  ...{ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  ...{ durationP50: null, durationP95: null, firstTokenP50: null, firstTokenP95: null },
})

test('spend counts whole days of UTC, of which the last is not over', () => {
  const points = [
    { at: '2026-11-05T00:00:00.000Z', figures: figures(1, 100) },
    { at: '2026-11-06T00:00:00.000Z', figures: figures(2, 0.5) },
    { at: '2026-11-11T00:00:00.000Z', figures: figures(4, null, 4) },
    { at: '2026-11-12T00:00:00.000Z', figures: figures(8, 0.25, 1) },
  ]
  const stats = { asOf: '2026-11-12T09:00:00.000Z', total: { figures: figures(15, 100.75), points } }
  expect(spendOf(stats, 1)).toMatchObject({ runs: 8, cost: 0.25, unpriced: 1 })
  expect(spendOf(stats, 7)).toMatchObject({ runs: 14, cost: 0.75, unpriced: 5 })
  expect(spendOf(stats, 30)).toMatchObject({ runs: 15, cost: 100.75 })
})

test('an unknown price is never $0, and an estimate has its sign', () => {
  expect(costOf(figures(3, null))).toBe('no price')
  expect(costOf(figures(0, 0))).toBe('–')
  expect(costOf({ ...figures(3, 0.5), estimated: 1 })).toBe('≈ $0.50')
})
