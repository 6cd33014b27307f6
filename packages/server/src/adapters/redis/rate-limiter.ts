/**
 * Counts in Redis, so that all servers share each limit. While Redis is unavailable, each server counts in memory:
 * requests against its share of the limit, failures against the whole limit.
 */
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { FailureLimiter, RateLimiter } from '../../features/access/ports.ts'
import { failureLimiterOn, rateLimiterOn } from '../in-process/rate-limiter.ts'
import type { RedisConnections } from './connections.ts'

export type SharedCounters = Pick<RedisConnections, 'requests' | 'prefix'> & {
  /** The number of servers that share the limits. */
  servers(): number
}

export function createSharedRateLimiter({ requests, prefix, servers }: SharedCounters): RateLimiter {
  return rateLimiterOn((limit) => {
    const share = new RateLimiterMemory({ points: limit, duration: 1 })
    const limiter = new RateLimiterRedis({
      storeClient: requests,
      keyPrefix: `${prefix}:limit:${limit}`,
      points: limit,
      duration: 1,
      rejectIfRedisNotReady: true,
      insuranceLimiter: share,
    })
    return {
      consume(key, points) {
        share.points = Math.ceil(limit / servers())
        return limiter.consume(key, points)
      },
    }
  })
}

/** @param limit allowed failures per address in 10 s; 0 disables the counter. */
export function createSharedFailureLimiter(limit: number, { requests, prefix }: SharedCounters): FailureLimiter {
  const options = { points: Math.max(1, limit), duration: 10 }
  return failureLimiterOn(
    limit,
    new RateLimiterRedis({
      ...options,
      storeClient: requests,
      keyPrefix: `${prefix}:failures`,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(options),
    }),
  )
}
