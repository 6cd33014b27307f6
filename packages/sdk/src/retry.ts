import { numberOf, readRetryAfterMs } from './rate-limit.ts'

const RETRYABLE = /408|425|429|50[0234]/
const LONGEST_ORDERED_WAIT_MS = 60_000
const JITTER = 0.25

/** Whether to retry after a response. The server's `x-should-retry` header overrides the status. */
export function isRetryable(status: number, headers: Headers, reason: unknown): boolean {
  const wish = headers.get('x-should-retry')
  if (wish === 'true' || wish === 'false') return wish === 'true'
  // Retry a 409 only if the first attempt with the same idempotency key is still running. Other conflicts persist.
  if (status === 409) return reason === 'idempotency-in-progress'
  return RETRYABLE.test(`${status}`)
}

export interface RetryMoment {
  /** 0 after the first failure. */
  attempt: number
  headers: Headers | undefined
  now: number
  random: () => number
  /** Milliseconds before the second attempt. Default: 500. */
  first?: number | undefined
  /** The longest backoff in milliseconds. A wait that the server requests may be longer. Default: 8000. */
  longest?: number | undefined
}

/**
 * Returns the delay in milliseconds: the server's value, capped at one minute. Without such a value, returns an
 * exponential backoff with downward jitter.
 */
export function retryDelayMs({ attempt, headers, now, random, first = 500, longest = 8000 }: RetryMoment): number {
  const ordered = headers && (readRetryAfterMs(headers, now) ?? untilReset(headers, now))
  if (ordered !== undefined) return Math.min(ordered, LONGEST_ORDERED_WAIT_MS)
  return Math.min(first * 2 ** attempt, longest) * (1 - JITTER * random())
}

function untilReset(headers: Headers, now: number): number | undefined {
  const wait = numberOf(headers, 'x-ratelimit-reset') - now
  // If the window has ended or has requests left, the rate limit did not cause this failure.
  return wait > 0 && !(numberOf(headers, 'x-ratelimit-remaining') > 0) ? wait : undefined
}
