import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startTimer } from '../src/transport/timer.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

it('calls back once, after the full time', () => {
  const expire = vi.fn()
  startTimer(100, expire)
  vi.advanceTimersByTime(99)
  expect(expire).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(expire).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

it('leaves half of the time for reading arrived data after a suspension', () => {
  const expire = vi.fn()
  const stop = startTimer(100, expire)
  // Fires all due timers, but none that they start.
  vi.runOnlyPendingTimers()
  expect(vi.getTimerCount()).toBe(1)
  stop()
  vi.runAllTimers()
  expect(expire).not.toHaveBeenCalled()
})

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])('never calls back after %d ms', (ms) => {
  startTimer(ms, () => {})
  expect(vi.getTimerCount()).toBe(0)
})
