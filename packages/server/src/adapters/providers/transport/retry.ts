/** Retries provider calls that failed before their first byte. No other part of the server retries them. */
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { headerText } from './transport.ts'

export interface RetrySettings {
  maxRetries: number
  backoffMs: number
  signal: AbortSignal
}

const longestBackoffMs = 8_000
const longestRetryAfterMs = 60_000

/**
 * `attempt` must fail with a ProviderError, before any byte of the response was used. Rejects with the last failure.
 */
export async function withRetries<T>(settings: RetrySettings, attempt: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt()
    } catch (error) {
      const waitMs = retries < settings.maxRetries ? waitBefore(error, retries, settings.backoffMs) : undefined
      if (waitMs === undefined || settings.signal.aborted) throw error
      await delay(waitMs, undefined, { signal: settings.signal })
    }
  }
}

/** Undefined if a retry is not allowed, or if the provider asks for a wait of more than a minute. */
function waitBefore(error: unknown, retries: number, backoffMs: number): number | undefined {
  if (!(error instanceof ProviderError) || !isRepeatable(error)) return undefined
  if (error.retryAfterMs !== undefined)
    return error.retryAfterMs <= longestRetryAfterMs ? error.retryAfterMs : undefined
  // Up to a quarter shorter, so that clients that failed together do not retry together.
  return Math.min(backoffMs * 2 ** retries, longestBackoffMs) * (1 - Math.random() / 4)
}

function isRepeatable({ kind, status }: ProviderError): boolean {
  if (status === undefined) return kind === 'unavailable'
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/** `Retry-After` in seconds or as a date, or the more precise `retry-after-ms` of some providers. */
export function retryAfterOf(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const fine = Number.parseFloat(headerText(headers, 'retry-after-ms') ?? '')
  if (Number.isFinite(fine)) return Math.max(0, fine)
  const text = headerText(headers, 'retry-after')
  if (text === undefined) return undefined
  const seconds = Number(text)
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - now.getTime()
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined
}
