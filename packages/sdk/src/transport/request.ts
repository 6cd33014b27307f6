import { AbortError, ApiError, ConfigurationError, ConnectionError, StetError, TimeoutError } from '../errors.ts'
import { retryDelayMs } from '../retry.ts'
import { onAbort, randomUuid } from '../runtime.ts'
import type { Answer, Exchange } from './exchange.ts'
import { requestHeaders } from './headers.ts'
import { errorFromResponse, explained, requireEvents } from './response-error.ts'
import type { Settings } from './settings.ts'
import { startTimer } from './timer.ts'

/** Sends a request with retries. @throws StetError */
export async function send(settings: Settings, exchange: Exchange): Promise<Answer> {
  const { options, operation, method, retry, deadline = Number.POSITIVE_INFINITY } = exchange
  const { runtime, logger } = settings
  const maxRetries = options.maxRetries ?? settings.maxRetries
  const body = encodeBody(exchange.body)
  const key = method === 'POST' ? (options.idempotencyKey ?? randomUuid()) : null
  for (let attempt = 0; ; attempt++) {
    let mayRepeat = false
    try {
      const headers = await requestHeaders(settings, exchange, attempt, key)
      // Without an idempotency key, a retry could repeat the work.
      mayRepeat = retry === 'keyed' ? headers.has('idempotency-key') : retry === true
      return await attemptOnce(settings, exchange, { headers, attempt, ...(body !== undefined && { body }) })
    } catch (cause) {
      if (!StetError.isInstance(cause)) throw cause
      const failed = cause instanceof ApiError ? await explained(settings, cause) : undefined
      const error = failed ?? cause
      const delayMs = retryDelayMs({ attempt, headers: failed?.headers, now: runtime.now(), random: runtime.random })
      const willRetry =
        mayRepeat &&
        attempt < maxRetries &&
        (failed ? failed.retryable : error instanceof ConnectionError) &&
        runtime.now() + delayMs < deadline
      observe(settings, () => settings.hooks?.onError?.(error, { operation, willRetry }))
      if (!willRetry) throw error
      observe(settings, () => settings.hooks?.onRetry?.({ operation, attempt: attempt + 1, delayMs, error }))
      logger.info(`${operation} is repeated in ${delayMs} ms: ${error.message}`)
      await runtime.sleep(delayMs, options.signal).catch(() => {
        throw abortError(options.signal)
      })
    }
  }
}

interface Attempt {
  headers: Headers
  body?: string
  attempt: number
}

async function attemptOnce(
  settings: Settings,
  { method, url, operation, options, timeoutMs, isStream, context, prompt }: Exchange,
  { attempt, ...sent }: Attempt,
): Promise<Answer> {
  const { hooks, runtime, fetch, fetchOptions, logger } = settings
  const { signal: outer } = options
  const controller = new AbortController()
  const { signal } = controller
  const unfollow = onAbort(outer, () => controller.abort(abortError(outer)))
  const stopTimer = startTimer(timeoutMs, () => {
    controller.abort(new TimeoutError(`${operation}: no response within ${timeoutMs} ms`))
  })
  const startedAt = runtime.now()
  const about = { operation, method, url, attempt }
  try {
    observe(settings, () => hooks?.onRequest?.({ ...about, headers: withoutKey(sent.headers) }))
    // Follow redirects only for GET. A redirect may turn another method into GET, which returns the wrong resource.
    const redirect = method === 'GET' ? 'follow' : 'manual'
    const response = await fetch(url, { redirect, ...fetchOptions, ...sent, method, signal })
    const durationMs = runtime.now() - startedAt
    const { status, headers } = response
    const requestId = headers.get('x-request-id')
    observe(settings, () => hooks?.onResponse?.({ ...about, status, requestId, durationMs }))
    logger.debug(`${operation} ${method} ${url} ${status} in ${durationMs} ms [${requestId}]`)
    const warning = headers.get('x-stet-warning')
    if (warning) logger.warn(`${operation}${prompt ? ` ${prompt}` : ''}: ${warning}`)
    const answer = { response, text: '', method, url, attempts: attempt + 1, context, prompt }
    if (isStream) await requireEvents(answer)
    else answer.text = await response.text()
    if (!response.ok && status !== 304) throw errorFromResponse(answer)
    return answer
  } catch (cause) {
    if (StetError.isInstance(cause)) throw cause
    if (signal.aborted) throw signal.reason
    throw new ConnectionError(`${operation}: ${new URL(url).origin} cannot be reached (${reasonOf(cause)})`, { cause })
  } finally {
    stopTimer()
    unfollow()
  }
}

/** Waits for a shared promise. Aborting the signal ends only this wait. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = onAbort(signal, () => reject(abortError(signal)))
    work.then(resolve, reject).finally(unfollow)
  })
}

function abortError(signal: AbortSignal | undefined): AbortError {
  return new AbortError('The call was aborted', { detached: false, cause: signal?.reason })
}

function encodeBody(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ConfigurationError('The body cannot be written as JSON', { cause })
  }
}

function withoutKey(headers: Headers): Headers {
  const copy = new Headers(headers)
  if (copy.has('authorization')) copy.set('authorization', 'Bearer ***')
  return copy
}

// Node's fetch only reports "fetch failed". The error code is in the cause, or in the cause of the cause.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}

/** Logs and ignores an exception of the observer. */
export function observe(settings: Pick<Settings, 'logger'>, observer: () => void): void {
  try {
    observer()
  } catch (error) {
    settings.logger.error('A hook or listener failed', error)
  }
}
