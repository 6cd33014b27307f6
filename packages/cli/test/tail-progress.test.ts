import type { Run } from '@stet/sdk'
import { expect, test } from 'vitest'
import { advance, matches, runsBefore, type TailProgress } from '../src/commands/runs/tail-progress.ts'

const nothing: TailProgress = { from: undefined, known: new Map() }
const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
const run = (uuid: string, start: number, end?: number): Run =>
  ({ uuid, createdAt: at(start), endedAt: end === undefined ? null : at(end) }) as Run

/** Polls `history` as a server would list it, and returns what is printed. `history` has the runs at each poll. */
function follow(history: readonly (readonly Run[])[]): { printed: string[]; progress: TailProgress } {
  let progress = nothing
  const printed: string[] = []
  for (const all of history) {
    const { from } = progress
    const listed = all.filter(({ createdAt }) => from === undefined || createdAt >= from)
    const early = runsBefore(progress)
    const runs = [...listed, ...all.filter(({ uuid }) => early.includes(uuid))]
    const newest = all
      .map(({ createdAt }) => createdAt)
      .sort()
      .at(-1)
    const next = advance(progress, { runs, newest })
    progress = next.progress
    printed.push(...next.events.map(({ event, data }) => `${event} ${data.uuid}`))
  }
  return { printed, progress }
}

test('prints runs of one millisecond once each, also those that a later poll adds', () => {
  const { printed } = follow([
    [run('a', 1), run('b', 1, 1)],
    [run('a', 1, 2), run('b', 1, 1), run('c', 1)],
    [run('a', 1, 2), run('b', 1, 1), run('c', 1, 3)],
  ])
  expect(printed).toEqual(['started a', 'started b', 'ended b', 'started c', 'ended a', 'ended c'])
})

test('finds a run that is stored late, after newer ones', () => {
  const newer = [run('a', 20, 21), run('b', 30, 30)]
  expect(follow([newer, [run('late', 29, 31), ...newer]]).printed.slice(4)).toEqual(['started late', 'ended late'])
})

test('prints the end of a run that is older than the list, and then forgets it', () => {
  const polls = [[run('long', 1)], [run('long', 1), run('a', 50, 50)], [run('long', 1, 51), run('a', 50, 50)]]
  const { printed, progress } = follow(polls)
  expect(printed).toEqual(['started long', 'started a', 'ended a', 'ended long'])
  expect([...progress.known.keys()]).toEqual(['a'])
  expect(progress.from).toBe(at(35))
})

test('long runs take turns, and deleted ones are forgotten', () => {
  const { progress } = follow([[run('a', 1), run('b', 1), run('c', 1), run('d', 50, 50)]])
  expect(runsBefore(progress)).toEqual(['a', 'b', 'c'])
  const next = advance(progress, { runs: [run('a', 1)], newest: at(50), gone: ['b'] })
  expect(runsBefore(next.progress)).toEqual(['c', 'a'])
})

test('prints the runs of a tag, and no start that could not match at its end', () => {
  const data = {
    ...run('a', 1, 2),
    status: 'error',
    tags: ['late', 'refund'],
    model: 'm',
    cost: null,
    durationMs: 1000,
  } as Run
  const [started, ended] = (['started', 'ended'] as const).map((event) => ({ event, data }))
  const printed = (filter: Parameters<typeof matches>[1]) =>
    [started, ended].map((event) => event && matches(event, filter))
  expect(printed({})).toEqual([true, true])
  expect(printed({ tag: 'refund' })).toEqual([true, true])
  expect(printed({ tag: 'refunds' })).toEqual([false, false])
  expect(printed({ tag: 'refund', status: ['error'] })).toEqual([false, true])
  expect(printed({ status: ['running'] })).toEqual([true, false])
  expect(printed({ minDurationMs: 1000 })).toEqual([false, true])
  expect(printed({ minCost: 0.01 })).toEqual([false, false])
})
