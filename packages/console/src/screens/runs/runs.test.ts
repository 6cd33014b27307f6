import type { Run } from '@stet/sdk'
import { expect, test } from 'vitest'
import { pollFrom, waitingRuns, withPolled } from './new-runs.ts'

const run = (uuid: string, minute: number, status: Run['status'] = 'completed') =>
  ({
    uuid,
    status,
    createdAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`,
    tags: [],
    feedback: null,
  }) as never as Run

test('a poll reads from the newest run, or from the oldest one that was active', () => {
  expect(pollFrom([run('c', 9), run('b', 5), run('a', 1)], 0)).toBe('2026-01-01T00:09:00.000Z')
  expect(pollFrom([run('c', 9), run('b', 5, 'running'), run('a', 1)], 0)).toBe('2026-01-01T00:05:00.000Z')
  expect(pollFrom([], Date.parse('2026-01-01T00:10:00Z'))).toBe('2026-01-01T00:05:00.000Z')
})

test('shown runs change in their place, and new ones wait', () => {
  const shown = [run('b', 5, 'running'), run('a', 1)]
  const polled = [run('d', 8), run('c', 7), run('b', 5)]
  expect(withPolled(shown, polled).map(({ uuid, status }) => [uuid, status])).toEqual([
    ['b', 'completed'],
    ['a', 'completed'],
  ])
  expect(waitingRuns(shown, polled).map(({ uuid }) => uuid)).toEqual(['d', 'c'])
  const same = [run('a', 1)]
  expect(withPolled(same, [run('b', 2), run('a', 1)])).toBe(same)
})
