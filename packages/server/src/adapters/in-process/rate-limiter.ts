/** Counts in memory, which is correct only for a single replica. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { FailureLimiter, RateLimiter } from '../../features/access/ports.ts'

export function createRateLimiter(): RateLimiter {
  const limiters = new Map<number, RateLimiterMemory>()
  return {
    async spend(apiKeyId, limit) {
      const limiter = limiters.get(limit) ?? new RateLimiterMemory({ points: limit, duration: 1 })
      limiters.set(limit, limiter)
      let allowed = true
      const state = await limiter.consume(String(apiKeyId)).catch((refusal: unknown) => {
        allowed = false
        return stateOf(refusal)
      })
      const { remainingPoints, msBeforeNext } = state
      return { allowed, remaining: Math.max(0, remainingPoints), resetAtMs: Date.now() + msBeforeNext }
    },
  }
}

/** @param limit allowed failures per address in 10 s; 0 disables the counter. */
export function createFailureLimiter(limit: number): FailureLimiter {
  const limiter = new RateLimiterMemory({ points: Math.max(1, limit), duration: 10 })
  return {
    async blockedSeconds(address) {
      if (limit === 0) return 0
      const state = await limiter.get(address)
      return state !== null && state.consumedPoints >= limit ? Math.max(1, Math.ceil(state.msBeforeNext / 1000)) : 0
    },
    async record(address) {
      if (limit > 0) await limiter.consume(address).catch(stateOf)
    },
  }
}

// If no points are left, the library rejects with its state instead of an error.
function stateOf(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal
  throw refusal
}
