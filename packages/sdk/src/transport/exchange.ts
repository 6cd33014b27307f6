import type { RequestOptions } from '../options.ts'

export interface Exchange {
  operation: string
  method: string
  url: string
  body: unknown
  /** If true, the response must be an event stream, and its body stays unread. */
  isStream?: boolean
  /** Whether the client may repeat a failed attempt. `keyed` requires an idempotency key. */
  retry: boolean | 'keyed' | undefined
  outside?: boolean | undefined
  timeoutMs: number
  /** Epoch milliseconds. No retry starts later. */
  deadline?: number
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
