/** The API key's rate limit, from the response headers. */
export interface RateLimitInfo {
  /** Requests per window. */
  limit: number
  remaining: number
  resetAt: Date
  /** Set only if the server requested a wait. */
  retryAfterMs?: number
}

export function readRateLimit(headers: Headers, now: number): RateLimitInfo | null {
  const limit = numberOf(headers, 'x-ratelimit-limit')
  const reset = numberOf(headers, 'x-ratelimit-reset')
  if (!Number.isFinite(limit + reset)) return null
  const retryAfterMs = readRetryAfterMs(headers, now)
  return {
    limit,
    remaining: numberOf(headers, 'x-ratelimit-remaining') || 0,
    resetAt: new Date(reset),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Returns the wait that the server requests: `retry-after-ms`, or `Retry-After` in seconds or as a date. */
export function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const name = 'retry-after'
  const date = Date.parse(headers.get(name) ?? '')
  const wait = [numberOf(headers, `${name}-ms`), numberOf(headers, name) * 1000, date - now].find(Number.isFinite)
  return wait && Math.max(0, wait)
}

/** Returns NaN if the header is missing or not a number. */
export function numberOf(headers: Headers, name: string): number {
  return Number(headers.get(name)?.trim() || Number.NaN)
}
