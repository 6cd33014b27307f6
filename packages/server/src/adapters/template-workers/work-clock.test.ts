import { expect, it } from 'vitest'
import { type CpuShare, cpuShareOf, startWorkClock } from './work-clock.ts'

it.skipIf(process.platform !== 'linux')('reads the CPU time of a process', () => {
  const before = cpuShareOf(process.pid)
  // Measures CPU time instead of elapsed time, because a busy machine may pause this process.
  const worked = process.cpuUsage()
  while (process.cpuUsage(worked).user < 60_000) Math.sqrt(Math.random())
  const after = cpuShareOf(process.pid)
  expect(after?.isRunnable).toBe(true)
  expect(after?.usedMs).toBeGreaterThan(before?.usedMs ?? Number.NaN)
})

it('does not find a process that does not exist', () => {
  expect(cpuShareOf(undefined)).toBeUndefined()
  expect(cpuShareOf(2 ** 22 + 1)).toBeUndefined()
})

const limitMs = 40

async function endOf(told: (look: number) => CpuShare | undefined): Promise<{ end: string; looks: number }> {
  let looks = -1
  const shareOf = () => {
    looks += 1
    return told(looks)
  }
  const end = await new Promise<string>((onEnd) => startWorkClock({ limitMs, shareOf, onEnd }))
  return { end, looks }
}

it.each([
  ['of a child that works, at the first look', (look: number) => ({ usedMs: look * 50, isRunnable: true }), 1],
  ['of a child that got a quarter of the machine', (look: number) => ({ usedMs: look * 10, isRunnable: true }), 4],
  ['of a child that only sleeps, at the second', () => ({ usedMs: 0, isRunnable: false }), 2],
  ['where nothing is told', () => undefined, 1],
])('the time is spent %s', async (_name, told, looks) => {
  expect(await endOf(told)).toEqual({ end: 'spent', looks })
})

it('a child that never comes to work is ended as starved, after ten times its limit', async () => {
  // Each reading happens one limit later.
  expect(await endOf(() => ({ usedMs: 0, isRunnable: true }))).toEqual({ end: 'starved', looks: 10 })
})

it('time in which this process could not check does not count as waiting of the worker process', async () => {
  const standsStill = (ms: number) => {
    const until = performance.now() + ms
    while (performance.now() < until) Math.sqrt(Math.random())
  }
  const share = (look: number) => {
    if (look === 0) standsStill(limitMs * 10)
    return { usedMs: look * 10, isRunnable: true }
  }
  expect(await endOf(share)).toEqual({ end: 'spent', looks: 4 })
})

it('an answer that came while this process could not look counts', async () => {
  let isEnded = false
  const stop = startWorkClock({ limitMs, shareOf: () => undefined, onEnd: () => (isEnded = true) })
  const answer = new Promise<void>((resolve) => {
    setImmediate(() => {
      // Resolves in the same turn as an overdue timer.
      setImmediate(resolve)
      const until = performance.now() + 2 * limitMs
      while (performance.now() < until) Math.sqrt(Math.random())
    })
  })
  await answer
  stop()
  await new Promise((resolve) => setTimeout(resolve, 2 * limitMs))
  expect(isEnded).toBe(false)
})
