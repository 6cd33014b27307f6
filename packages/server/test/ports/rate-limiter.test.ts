import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createFailureLimiter, createRateLimiter } from '../../src/adapters/in-process/rate-limiter.ts'
import { describeRateLimiter } from './rate-limiter.contract.ts'

const startMs = Date.parse('2026-01-01T00:00:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: startMs }))
afterEach(() => void vi.useRealTimers())

const passTo = async (timeMs: number) => void vi.advanceTimersByTime(timeMs - Date.now())

describeRateLimiter('in process', { create: async () => createRateLimiter(), passTo })

it('opens a window with its first request, and ends it exactly a second later', async () => {
  const limiter = createRateLimiter()
  for (const [atMs, allowed, remaining, end] of [
    [0, true, 1, 1_000],
    [400, true, 0, 1_000],
    [999, false, 0, 1_000],
    [1_000, true, 1, 2_000],
    [5_000, true, 1, 6_000],
  ] as const) {
    await passTo(startMs + atMs)
    expect(await limiter.spend(1, 2), `${atMs} ms`).toEqual({ allowed, remaining, resetAtMs: startMs + end })
  }
})

describe('failed authentications', () => {
  it('block an address until ten seconds after its first failure, and no other address', async () => {
    const failures = createFailureLimiter(20)
    for (let count = 0; count < 20; count += 1) {
      expect(await failures.blockedSeconds('192.0.2.1')).toBe(0)
      await failures.record('192.0.2.1')
      if (count === 0) await passTo(startMs + 4_000)
    }
    expect(await failures.blockedSeconds('192.0.2.1')).toBe(6)
    expect(await failures.blockedSeconds('192.0.2.2')).toBe(0)
    await failures.record('192.0.2.1')
    await passTo(startMs + 9_999)
    expect(await failures.blockedSeconds('192.0.2.1')).toBe(1)
    await passTo(startMs + 10_000)
    expect(await failures.blockedSeconds('192.0.2.1')).toBe(0)
  })

  it('are not counted with the limit 0', async () => {
    const failures = createFailureLimiter(0)
    await failures.record('192.0.2.1')
    expect(await failures.blockedSeconds('192.0.2.1')).toBe(0)
  })
})
