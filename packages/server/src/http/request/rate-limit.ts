import type { RequestHandler } from 'express'
import { AppError } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { callerOf } from './request-context.ts'

/** Spends one point of the caller's second and tells the state on every authenticated response. */
export function rateLimit(deps: HttpDeps): RequestHandler {
  return async (_req, res, next) => {
    const { apiKeyId, limit } = callerOf(res)
    const point = await deps.rateLimiter.spend(apiKeyId, limit)
    res.setHeader('X-RateLimit-Limit', limit)
    res.setHeader('X-RateLimit-Remaining', Math.max(0, point.remaining))
    res.setHeader('X-RateLimit-Reset', point.resetAtMs)
    if (point.allowed) {
      next()
      return
    }
    const waitMs = point.resetAtMs - deps.clock.now().getTime()
    throw new AppError('RateLimitError', 'Too many requests', {
      details: { limit, retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) },
    })
  }
}
