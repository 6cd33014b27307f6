import { expect, test } from 'vitest'
import { hasRun, isCalled } from './steps.ts'

const run = (via: string, status: string) => ({ via, status })

test('a run of the console counts from its start, unless it fails', () => {
  expect([[], [run('console', 'error')]].map(hasRun)).toEqual([false, false])
  expect(hasRun([run('console', 'error'), run('console', 'running')])).toBe(true)
  expect(isCalled([run('console', 'completed')])).toBe(false)
})

test('a call counts when it has completed, and is then also a run', () => {
  const unfinished = ['running', 'queued', 'error', 'stopped'].map((status) => [run('api', status)])
  expect(unfinished.map(isCalled)).toEqual([false, false, false, false])
  expect(unfinished.map(hasRun)).toEqual([false, false, false, false])
  expect([isCalled, hasRun].map((holds) => holds([run('api', 'error'), run('api', 'completed')]))).toEqual([true, true])
})
