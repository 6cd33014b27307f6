import type { RequestHandler } from 'express'

const allowedMethods = 'GET, POST, PUT, DELETE'
const allowedHeaders =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, X-Latitude-SDK-Version, X-Stet-SDK-Version, X-Retry-Count'
const exposedHeaders =
  'X-Request-Id, X-Conversation-Uuid, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotency-Replayed'

/** Browsers of the listed origins may call; never `*`, never credentials. Preflights need no key. */
export function cors(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins)
  return (req, res, next) => {
    const { origin } = req.headers
    if (allowed.size > 0) res.vary('Origin')
    if (origin === undefined || !allowed.has(origin)) {
      next()
      return
    }
    res.setHeader('Access-Control-Allow-Origin', origin)
    res.setHeader('Access-Control-Expose-Headers', exposedHeaders)
    if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) {
      next()
      return
    }
    res.setHeader('Access-Control-Allow-Methods', allowedMethods)
    res.setHeader('Access-Control-Allow-Headers', allowedHeaders)
    res.setHeader('Access-Control-Max-Age', '600')
    res.status(204).end()
  }
}
