import type { ServerResponse } from 'node:http'
import type { SpentPoint } from '../../features/access/ports.ts'
import { refuse } from '../../shared/app-error.ts'
import { callerOf, contextOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'

export async function spendPoint(deps: Pick<HttpDeps, 'rateLimiter'>, res: ServerResponse): Promise<SpentPoint> {
  const context = contextOf(res)
  if (context.point) return context.point
  const { apiKeyId, limit } = callerOf(res)
  const point = await deps.rateLimiter.spend(apiKeyId, limit)
  context.point = point
  res.setHeader('X-RateLimit-Limit', limit)
  res.setHeader('X-RateLimit-Remaining', Math.max(0, point.remaining))
  res.setHeader('X-RateLimit-Reset', point.resetAtMs)
  return point
}

/** Limits open event streams per key, so that one key cannot use all sockets. */
export class StreamLimit {
  readonly #maxPerKey: number
  readonly #open = new Map<number, number>()

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey
  }

  /** Counts one stream until the response closes. @throws AppError RateLimitError above the limit. */
  enter(apiKeyId: number, res: ServerResponse): void {
    const count = this.#open.get(apiKeyId) ?? 0
    if (count >= this.#maxPerKey) throw refuse('too-many-streams', { limit: this.#maxPerKey, retryAfter: 1 })
    this.#open.set(apiKeyId, count + 1)
    res.once('close', () => {
      const left = (this.#open.get(apiKeyId) ?? 1) - 1
      if (left === 0) this.#open.delete(apiKeyId)
      else this.#open.set(apiKeyId, left)
    })
  }
}
