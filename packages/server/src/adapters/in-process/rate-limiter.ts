/** Counts in memory, for a single server. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { FailureLimiter, RateLimiter } from '../../features/access/ports.ts'

interface Counter {
  consume(key: string, points?: number): Promise<RateLimiterRes>
}

export function createRateLimiter(): RateLimiter {
  return rateLimiterOn((points) => new RateLimiterMemory({ points, duration: 1 }))
}

/** @param createCounter returns a counter of one-second windows for a limit. Called once per distinct limit. */
export function rateLimiterOn(createCounter: (limit: number) => Counter): RateLimiter {
  const counters = new Map<number, Counter>()
  return {
    async spend(bucket, limit, points = 1) {
      const counter = counters.get(limit) ?? createCounter(limit)
      counters.set(limit, counter)
      let allowed = true
      const state = await counter.consume(String(bucket), points).catch((refusal: unknown) => {
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
  return failureLimiterOn(limit, new RateLimiterMemory({ points: Math.max(1, limit), duration: 10 }))
}

export function failureLimiterOn(
  limit: number,
  counter: Counter & { get(key: string): Promise<RateLimiterRes | null> },
): FailureLimiter {
  return {
    async blockedSeconds(address) {
      if (limit === 0) return 0
      const state = await counter.get(address)
      // The library removes a window with a timer, which a busy process runs late.
      if (state === null || state.msBeforeNext <= 0 || state.consumedPoints < limit) return 0
      return Math.ceil(state.msBeforeNext / 1000)
    },
    async record(address) {
      if (limit > 0) await counter.consume(address).catch(stateOf)
    },
  }
}

// If no points are left, the library rejects with its state instead of an error.
function stateOf(refusal: unknown): RateLimiterRes {
  if (refusal instanceof RateLimiterRes) return refusal
  throw refusal
}
