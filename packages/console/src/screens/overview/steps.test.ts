import type { Stats } from '@stet/sdk'
import { expect, test } from 'vitest'
import { overviewSearch, rangeOf } from './ranges.ts'
import { lengthRatio, stepsOf } from './steps.ts'

const figures = {
  ...{ runs: 3, errors: 1, stopped: 0, unpriced: 0, estimated: 0, cost: 0.5 },
  ...{ inputTokens: 30, outputTokens: 6, cachedInputTokens: 0 },
  ...{ durationP50: 900, durationP95: 1200, firstTokenP50: null, firstTokenP95: null },
}
const at = '2026-10-25T00:00:00Z'
const total = { figures, points: [{ at, figures }] }
const range = { running: 0, series: [], other: null, marks: [], total }

test('each step of the range has its figures, none has a run that ended in another one, and the open step is the last', () => {
  const steps = stepsOf({
    ...range,
    ...{ from: '2026-10-24T22:00:00Z', to: '2026-10-25T04:00:00Z', asOf: '2026-10-25T03:10:00Z', stepSeconds: 3600 },
  })
  // Clocks of this night go back at 01:00 UTC in Europe: steps have one length all the same.
  expect(steps.map(({ at }) => new Date(at).toISOString().slice(11, 16))).toEqual([
    ...['22:00', '23:00', '00:00', '01:00', '02:00', '03:00'],
  ])
  expect(steps.map(({ figures: { runs } }) => runs)).toEqual([0, 0, 3, 0, 0, 0])
  expect(steps[0]?.figures).toMatchObject({ cost: 0, durationP50: null })
})

test('a range that is half over is half as long as the one before it', () => {
  const stats = (from: string, to: string, asOf: string): Stats => ({ ...range, from, to, asOf, stepSeconds: 3600 })
  const now = stats('2026-11-12T10:00:00Z', '2026-11-12T12:00:00Z', '2026-11-12T11:00:00Z')
  const before = stats('2026-11-12T08:00:00Z', '2026-11-12T10:00:00Z', '2026-11-12T10:00:00Z')
  expect(lengthRatio(now, before)).toBe(0.5)
})

test('a range of the address is a name or an interval that the server takes', () => {
  const range = '2026-01-01T00:00:00.000Z/2026-01-02T12:00:00.000Z'
  expect(overviewSearch({ range: '2026-01-01T00:00Z/2026-01-02T13:00+01:00' })).toEqual({ range })
  expect(rangeOf(range)).toMatchObject({ ms: 36 * 3_600_000, to: '2026-01-02T12:00:00.000Z', pollMs: false })
  const [from, to] = range.split('/')
  for (const odd of [`${to}/${from}`, `${from}/${from}`, `${from}/2027-01-03T00:00:00Z`, `${from}`, 'x/y', 7, '2h'])
    expect(overviewSearch({ range: odd })).toEqual({})
})
