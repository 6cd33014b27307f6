import type { ServerResponse } from 'node:http'
import type { SpentPoint } from '../../features/access/ports.ts'
import { refuse } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { callerOf, contextOf } from './request-context.ts'

/** Consumes one rate-limit point per request, and reports the state in the response. */
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

/** @throws AppError RateLimitError for a request without a remaining point. */
export async function limitRate(deps: Pick<HttpDeps, 'rateLimiter' | 'clock'>, res: ServerResponse): Promise<void> {
  const { allowed, resetAtMs } = await spendPoint(deps, res)
  if (allowed) return
  const waitMs = resetAtMs - deps.clock.now().getTime()
  throw refuse('rate-limited', { limit: callerOf(res).limit, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) })
}
