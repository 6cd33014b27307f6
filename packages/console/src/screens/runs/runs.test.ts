import type { Run } from '@stet/sdk'
import { expect, test } from 'vitest'
import { runFilter } from '../../runs/run-filter.ts'
import { typedTags } from './filters.ts'
import { listedRuns, pollFrom, waitingRuns, withPolled } from './new-runs.ts'

const run = (uuid: string, minute: number, status: Run['status'] = 'completed') =>
  ({
    uuid,
    status,
    createdAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
    tags: [],
    feedback: null,
  }) as never as Run

test('a poll reads from some time before the newest run', () => {
  expect(pollFrom([run('c', 9), run('b', 5), run('a', 1)], 0)).toBe('2026-01-01T00:08:30.000Z')
  expect(pollFrom([run('b', 5), run('c', 9)], 0)).toBe('2026-01-01T00:08:30.000Z')
  expect(pollFrom([], Date.parse('2026-01-01T00:10:00Z'))).toBe('2026-01-01T00:05:00.000Z')
})

test('shown runs change in their place, and new ones wait', () => {
  const shown = [run('b', 5, 'running'), run('a', 1)]
  const polled = [run('d', 8), run('c', 7), run('b', 5)]
  expect(withPolled(shown, polled).map(({ uuid, status }) => [uuid, status])).toEqual([
    ['b', 'completed'],
    ['a', 'completed'],
  ])
  expect(waitingRuns(shown, polled, false).map(({ uuid }) => uuid)).toEqual(['d', 'c'])
  // The next pages have the runs before the last row.
  const early = [run('c', 7), run('z', 0)]
  expect(waitingRuns(shown, early, true).map(({ uuid }) => uuid)).toEqual(['c'])
  expect(waitingRuns(shown, early, false).map(({ uuid }) => uuid)).toEqual(['c', 'z'])
  expect(listedRuns([{ items: shown }, { items: [run('a', 1), run('0', 0)] }]).map(({ uuid }) => uuid)).toEqual([
    'b',
    'a',
    '0',
  ])
  const same = [run('a', 1)]
  expect(withPolled(same, [run('b', 2), run('a', 1)])).toBe(same)
})

test('an instant of the address that is none is no filter', () => {
  expect(runFilter({ from: 'yesterday', to: '2026-01-01T01:00:00+01:00', minCost: '0.' })).toEqual({
    to: '2026-01-01T00:00:00.000Z',
  })
  expect(runFilter({ minCost: '0.05' })).toEqual({ minCost: 0.05 })
})

test('typed tags are separated by commas', () => {
  expect(typedTags(' d, two words,,')).toEqual(['d', 'two words'])
})
