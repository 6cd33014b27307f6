import { expect, it } from 'vitest'
import { cpuShareOf, isStarved } from './starvation.ts'

it.skipIf(process.platform !== 'linux')('reads the CPU time of a process', () => {
  const before = cpuShareOf(process.pid)
  // CPU time and not the clock's: on a busy machine this process may get none for a while.
  const worked = process.cpuUsage()
  while (process.cpuUsage(worked).user < 60_000) Math.sqrt(Math.random())
  const after = cpuShareOf(process.pid)
  expect(after?.isRunnable).toBe(true)
  expect(after?.usedMs).toBeGreaterThan(before?.usedMs ?? Number.NaN)
})

it('knows no process that does not exist', () => {
  expect(cpuShareOf(undefined)).toBeUndefined()
  expect(cpuShareOf(2 ** 22 + 1)).toBeUndefined()
})

it.each([
  ['a busy machine', { usedMs: 300, isRunnable: true }, true],
  ['a busy child', { usedMs: 990, isRunnable: true }, false],
  ['a child that sleeps', { usedMs: 10, isRunnable: false }, false],
  ['an unknown share', undefined, false],
])('tells %s', (_name, now, expected) => {
  expect(isStarved({ usedMs: 0, isRunnable: true }, now, 1000)).toBe(expected)
})
