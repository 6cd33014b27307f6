/** Request and failure counters in memory: right for one replica. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { FailureLimiter, RateLimiter } from '../../features/access/ports.ts'

/** A fixed window of one second per key; one limiter for each distinct limit. */
export function createRateLimiter(): RateLimiter {
  const limiters = new Map<number, RateLimiterMemory>()
  return {
    async spend(apiKeyId, limit) {
      const limiter = limiters.get(limit) ?? new RateLimiterMemory({ points: limit, duration: 1 })
      limiters.set(limit, limiter)
      const { allowed, state } = await consume(limiter, String(apiKeyId))
      return {
        allowed,
        remaining: Math.max(0, state.remainingPoints),
        resetAtMs: Date.now() + state.msBeforeNext,
      }
    },
  }
}

/** @param limit failures that an address may have in 10 s; 0 switches the counter off. */
export function createFailureLimiter(limit: number): FailureLimiter {
  const limiter = new RateLimiterMemory({ points: Math.max(1, limit), duration: 10 })
  return {
    async blockedSeconds(address) {
      if (limit === 0) return 0
      const state = await limiter.get(address)
      return state !== null && state.consumedPoints >= limit ? Math.max(1, Math.ceil(state.msBeforeNext / 1000)) : 0
    },
    async record(address) {
      if (limit > 0) await consume(limiter, address)
    },
  }
}

// The library rejects with its state, not with an error, when no point is left.
async function consume(limiter: RateLimiterMemory, key: string): Promise<{ allowed: boolean; state: RateLimiterRes }> {
  try {
    return { allowed: true, state: await limiter.consume(key) }
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return { allowed: false, state: refusal }
    throw refusal
  }
}
