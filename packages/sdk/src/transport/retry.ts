import { numberOf, readRetryAfterMs } from './rate-limit.ts'

const RETRYABLE = /408|425|429|50[0234]/
const LONGEST_ORDERED_WAIT_MS = 60_000
const JITTER = 0.25

/** Whether a response is worth a second attempt. The server's `x-should-retry` overrides its status. */
export function isRetryable(status: number, headers: Headers, reason: unknown): boolean {
  const wish = headers.get('x-should-retry')
  if (wish === 'true' || wish === 'false') return wish === 'true'
  // 409 means a version conflict, unless the first attempt with the same idempotency key is still running.
  if (status === 409) return reason === 'in_progress'
  return RETRYABLE.test(`${status}`)
}

/** The inputs for the pause before the next attempt. */
export interface RetryMoment {
  /** 0 after the first failure. */
  attempt: number
  /** The headers of the failed response, if there was one. */
  headers: Headers | undefined
  /** Epoch milliseconds. */
  now: number
  random: () => number
  /** Milliseconds before the second attempt, 500 */
  first?: number | undefined
  /** The longest wait in milliseconds, unless the server requests another one, 8000 */
  longest?: number | undefined
}

/** Milliseconds to wait: the server's value, at most a minute. Without one, exponential with jitter downwards. */
export function retryDelayMs({ attempt, headers, now, random, first = 500, longest = 8000 }: RetryMoment): number {
  const ordered = headers && (readRetryAfterMs(headers, now) ?? untilReset(headers, now))
  if (ordered !== undefined) return Math.min(ordered, LONGEST_ORDERED_WAIT_MS)
  return Math.min(first * 2 ** attempt, longest) * (1 - JITTER * random())
}

function untilReset(headers: Headers, now: number): number | undefined {
  const wait = numberOf(headers, 'x-ratelimit-reset') - now
  // A window that has ended or has requests left did not cause this failure.
  return wait > 0 && !(numberOf(headers, 'x-ratelimit-remaining') > 0) ? wait : undefined
}
