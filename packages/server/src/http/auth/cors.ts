import type { IncomingMessage, ServerResponse } from 'node:http'

const allowedMethods = 'GET, POST, PUT, DELETE'
const allowedHeaders =
  'Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, X-Latitude-SDK-Version, X-Stet-SDK-Version, X-Retry-Count'
const exposedHeaders =
  'X-Request-Id, X-Conversation-Uuid, ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotency-Replayed, X-Stet-Warning'

/** Allows only listed origins, without credentials. @returns true if it answered a preflight request. */
export function answersPreflight(allowed: ReadonlySet<string>, req: IncomingMessage, res: ServerResponse): boolean {
  const { origin } = req.headers
  res.setHeader('Vary', 'Origin')
  if (origin === undefined || !allowed.has(origin)) return false
  res.setHeader('Access-Control-Allow-Origin', origin)
  res.setHeader('Access-Control-Expose-Headers', exposedHeaders)
  if (req.method !== 'OPTIONS' || req.headers['access-control-request-method'] === undefined) return false
  res.setHeader('Access-Control-Allow-Methods', allowedMethods)
  res.setHeader('Access-Control-Allow-Headers', allowedHeaders)
  res.setHeader('Access-Control-Max-Age', '600')
  res.writeHead(204).end()
  return true
}
