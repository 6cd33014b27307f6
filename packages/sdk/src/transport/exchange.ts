import type { RequestOptions } from '../options.ts'

export interface Exchange {
  operation: string
  method: string
  url: string
  body: unknown
  /** Returns the response with its body unread. */
  isStream?: boolean
  /** Whether a failed attempt may be repeated. `keyed`: only with an idempotency key. */
  retry: boolean | 'keyed' | undefined
  outside?: boolean | undefined
  timeoutMs: number
  options: RequestOptions
  context?: string | undefined
  prompt?: string | undefined
}

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
