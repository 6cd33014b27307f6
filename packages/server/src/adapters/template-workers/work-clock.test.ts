import { expect, it } from 'vitest'
import { type CpuShare, cpuShareOf, startWorkClock } from './work-clock.ts'

it.skipIf(process.platform !== 'linux')('reads the CPU time of a process', () => {
  const before = cpuShareOf(process.pid)
  // Measures CPU time, because a busy machine may not schedule this process for a while.
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

/** Returns how the clock ended and how often it read the CPU share after the first reading. */
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
  ['child that works, at the first reading', (look: number) => ({ usedMs: look * 50, isRunnable: true }), 1],
  ['child that gets a quarter of the CPU', (look: number) => ({ usedMs: look * 10, isRunnable: true }), 4],
  ['child that only sleeps, at the second reading', () => ({ usedMs: 0, isRunnable: false }), 2],
  ['CPU share that is not available', () => undefined, 1],
])('ends as spent: %s', async (_name, told, looks) => {
  expect(await endOf(told)).toEqual({ end: 'spent', looks })
})

it('ends as starved after ten times its limit if the child never gets CPU time', async () => {
  expect(await endOf(() => ({ usedMs: 0, isRunnable: true }))).toEqual({ end: 'starved', looks: 10 })
})

it('ignores the time in which this process was blocked', async () => {
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

it('accepts a response that arrived while this process was blocked', async () => {
  let isEnded = false
  const stop = startWorkClock({ limitMs, shareOf: () => undefined, onEnd: () => (isEnded = true) })
  const answer = new Promise<void>((resolve) => {
    setImmediate(() => {
      // The timer is already overdue when the response arrives.
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
