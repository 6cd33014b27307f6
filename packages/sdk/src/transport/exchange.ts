import type { RequestOptions } from '../options.ts'

/** One logical request with all its attempts. */
export interface Exchange {
  operation: string
  method: string
  url: string
  body: unknown
  /** The response is returned with its body unread. */
  isStream?: boolean
  /** Whether a failed attempt may be repeated. `keyed`: only if the request has an idempotency key. */
  retry: boolean | 'keyed' | undefined
  /** Sent without a key. */
  outside?: boolean | undefined
  timeoutMs: number
  options: RequestOptions
  /** The requested resource in words, for error messages. */
  context?: string | undefined
  /** The path of the prompt to run. */
  prompt?: string | undefined
}

/** The response. */
export interface Answer {
  response: Response
  /** Empty for streams. */
  text: string
  method: string
  url: string
  attempts: number
  context?: string | undefined
  prompt?: string | undefined
}
