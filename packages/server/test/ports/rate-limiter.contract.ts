/** The contract of every rate limiter: a window of one second never allows more than the limit of a key. */
import { describe, expect, it } from 'vitest'
import type { RateLimiter } from '../../src/features/access/ports.ts'

export interface RateLimiterBench {
  create(): Promise<RateLimiter>
  /** Lets the limiter's clock reach this time. */
  passTo(timeMs: number): Promise<void>
}

export function describeRateLimiter(name: string, { create, passTo }: RateLimiterBench): void {
  describe(`rate limiter: ${name}`, () => {
    it('counts a window down, then refuses until its end, and reports that end', async () => {
      const limiter = await create()
      const before = Date.now()
      const spent = await Promise.all(Array.from({ length: 8 }, () => limiter.spend(1, 5)))
      expect(spent.map(({ allowed }) => allowed)).toEqual([...Array(5).fill(true), ...Array(3).fill(false)])
      expect(spent.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0])
      for (const { resetAtMs } of spent) {
        expect(resetAtMs).toBeGreaterThan(before)
        expect(resetAtMs).toBeLessThanOrEqual(Date.now() + 1_000)
      }
      await passTo(Math.max(...spent.map(({ resetAtMs }) => resetAtMs)))
      expect(await limiter.spend(1, 5)).toMatchObject({ allowed: true, remaining: 4 })
    })

    it('counts each key for itself, and each limit of a key', async () => {
      const limiter = await create()
      await limiter.spend(1, 1)
      expect(await limiter.spend(1, 1)).toMatchObject({ allowed: false })
      expect(await limiter.spend(2, 1)).toMatchObject({ allowed: true })
      expect(await limiter.spend(1, 3)).toMatchObject({ allowed: true, remaining: 2 })
    })
  })
}
