import type { ErrorDetails } from './error-details.ts'
import { type RateLimitInfo, readRateLimit } from './rate-limit.ts'
import { isRetryable } from './retry.ts'
import type { ErrorReason, Message, ToolCall } from './types.ts'

const brands = new WeakMap<object, symbol>()

interface ErrorFacts {
  cause?: unknown
  conversationUuid?: string | undefined
  lastEventId?: string | undefined
  partial?: { text: string; conversation?: Message[] }
  detached?: boolean
}

/**
 * The base class of this library's errors.
 *
 * @example
 * try { await stet.prompts.run('support/reply') } catch (e) { if (StetError.isInstance(e)) console.error(e.message) }
 */
export class StetError extends Error {
  declare readonly name: string

  constructor(message: string, { cause, ...facts }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, facts)
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class on the right of instanceof
    const symbol = brands.get(this)
    // A subclass in the application has no brand, so check the prototype chain.
    // biome-ignore lint/complexity/noThisInStatic: see above
    if (!symbol) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && symbol in value
  }

  /**
   * Returns true for errors of any copy of this library, even from another realm.
   *
   * @example window.addEventListener('error', ({ error }) => StetError.isInstance(error) && report(error))
   */
  static isInstance(e: unknown): e is StetError {
    return e instanceof StetError
  }
}

export interface ApiErrorInit extends ErrorFacts {
  status: number
  errorCode: string
  message: string
  /** The `reason` of the response's body. */
  reason?: string | undefined
  details: unknown
  requestId: string | null
  headers: Headers
  serverResponse: string
  method: string
  url: string
  attempts: number
  /** Describes the requested resource in the error message. */
  context?: string | undefined
  /** The failed run's prompt path, for the error message. */
  prompt?: string | undefined
}

/**
 * The server rejected the request or failed. Act on `reason` and `details`. Give `requestId` to the operator.
 *
 * @example if (e instanceof ApiError && e.reason === 'body-too-large') splitTheUpload()
 */
export class ApiError extends StetError {
  declare readonly status: number
  declare readonly errorCode: string
  declare readonly details: unknown
  /**
   * The cause. docs/errors.md lists all causes. A newer server may send other values. For a failed run, `errorCode` says
   * more.
   */
  declare readonly reason: ErrorReason | (string & {}) | undefined
  readonly retryable: boolean
  declare readonly attempts: number
  declare readonly requestId: string | null
  declare readonly headers: Headers | undefined
  declare readonly serverResponse: string
  declare readonly method: string
  declare readonly url: string

  constructor(init: ApiErrorInit, what = `${init.status} ${init.message}`) {
    const { message, context, prompt, ...facts } = init
    const { status, requestId, reason } = facts
    super(`${what}${context ? ` (${context})` : ''}${requestId ? ` [${requestId}]` : ''}`, facts)
    this.retryable = isRetryable(status, facts.headers, reason)
  }
}

/**
 * 400: the request is invalid, or not possible for this version. For example, a merged version cannot change.
 *
 * @example if (e instanceof BadRequestError) console.error(e.message, e.details)
 */
export class BadRequestError extends ApiError {}

/**
 * 401: the API key is missing, unknown, revoked or expired.
 *
 * @example if (e instanceof UnauthorizedError) console.error('Is STET_API_KEY still valid?')
 */
export class UnauthorizedError extends ApiError {}

/**
 * 403: the API key lacks a key scope, or the call needs an API key that is not restricted to one project.
 *
 * @example if (e instanceof ForbiddenError) console.error('The key may not do this', e.message)
 */
export class ForbiddenError extends ApiError {}

/**
 * 404: the requested resource does not exist, or the API key cannot access the resource.
 *
 * @example if (e instanceof NotFoundError) console.error(e.message, e.details)
 */
export class NotFoundError extends ApiError {}

/**
 * 409 or 412: the server's state does not allow the request. For example, a prompt has changed since you read it, a run
 * is active, or a name is taken. `reason` names the cause.
 *
 * @example if (e instanceof ConflictError) console.error('The resource has changed', e.details)
 */
export class ConflictError extends ApiError {}

/**
 * 422: the request is valid but cannot be processed. For example, a prompt does not compile or a parameter is missing.
 *
 * @example if (e instanceof UnprocessableEntityError) console.error(e.errorCode, e.details)
 */
export class UnprocessableEntityError extends ApiError {}

/**
 * 429: the API key exceeded its rate limit or its limit of open streams, or too many requests had invalid API keys.
 *
 * @example if (e instanceof RateLimitError) console.error('Again at', e.rateLimit?.resetAt)
 */
export class RateLimitError extends ApiError {
  readonly rateLimit: RateLimitInfo | null

  constructor(init: ApiErrorInit) {
    super(init)
    this.rateLimit = readRateLimit(init.headers, Date.now())
  }
}

/**
 * 500 and above: the server failed or is temporarily unavailable.
 *
 * @example if (e instanceof InternalServerError) console.error(`Ask the operator about ${e.requestId}`)
 */
export class InternalServerError extends ApiError {}

/**
 * The run failed. `errorCode` is a run code such as `ai_run_error`. `partial` is the output so far, and empty without a
 * stream. The message names the cause: `openai: 401 Incorrect API key provided (prompt support/reply)`.
 *
 * @example if (e instanceof RunError && e.errorCode === 'rate_limit_error') tryLater(e.conversationUuid)
 */
export class RunError extends ApiError {
  declare readonly conversationUuid?: string
  declare readonly partial: { text: string; conversation: Message[] }

  constructor(init: ApiErrorInit) {
    super({ ...init, reason: init.reason ?? 'run-failed' }, runReason(init))
  }
}

/**
 * Formats the cause on one line of at most 500 characters, followed by the prompt's path if known. For a provider
 * failure, the line has the provider's name, status and message.
 */
function runReason({ errorCode, message, details, prompt }: ApiErrorInit): string {
  const { provider, status, providerMessage } = (details ?? {}) as Record<string, unknown>
  const isOfProvider = provider && /^(ai_run|rate_limit)_error$/.test(errorCode)
  const words = providerMessage ? `${status ?? ''} ${providerMessage}` : message
  const reason = (isOfProvider ? `${provider}: ${words}` : message)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\.$/, '')
    .replace(/^(.{499}).{2,}/u, '$1…')
  return prompt ? `${reason} (prompt ${prompt})` : reason
}

/**
 * No complete response arrived, because the socket, DNS or TLS failed. `cause` is the runtime's error.
 *
 * @example if (e instanceof ConnectionError) console.error(e.message, e.cause)
 */
export class ConnectionError extends StetError {
  declare readonly cause?: unknown
}

/**
 * No complete response arrived within the timeout. For a stream, the response head did not arrive.
 *
 * @example if (e instanceof TimeoutError) await stet.withOptions({ timeout: 300_000 }).prompts.list()
 */
export class TimeoutError extends ConnectionError {}

/**
 * The stream broke and could not be resumed. The run may still be active: call `runs.attach(uuid)` to get its result.
 *
 * @example if (e instanceof StreamInterruptedError && e.conversationUuid) await stet.runs.attach(e.conversationUuid)
 */
export class StreamInterruptedError extends ConnectionError {
  declare readonly conversationUuid?: string
  declare readonly lastEventId?: string
  declare readonly partial: { text: string }
}

/**
 * The caller aborted the call or detached from the stream.
 *
 * @example if (e instanceof AbortError && e.detached) await stet.runs.attach(e.conversationUuid ?? '')
 */
export class AbortError extends StetError {
  declare readonly conversationUuid?: string
  declare readonly detached: boolean
}

/**
 * A client tool ended the run: the handler threw this error, or the arguments were invalid and `onInvalidArgs` is
 * `throw`. Any other exception from a handler becomes an error result for the model.
 *
 * @example throw new ToolExecutionError('The order database is down', { cause })
 */
export class ToolExecutionError extends StetError {
  declare readonly call: ToolCall
  declare readonly cause?: unknown
}

/**
 * An option or an argument is missing or invalid. The message names the option, and its environment variable if it has
 * one.
 *
 * @example if (e instanceof ConfigurationError) process.exit(2)
 */
export class ConfigurationError extends StetError {}

// The ESM and CJS builds have separate classes. These brands make `instanceof` work across both builds.
for (const [name, type] of Object.entries({
  StetError,
  ApiError,
  BadRequestError,
  UnauthorizedError,
  ForbiddenError,
  NotFoundError,
  ConflictError,
  UnprocessableEntityError,
  RateLimitError,
  InternalServerError,
  RunError,
  ConnectionError,
  TimeoutError,
  StreamInterruptedError,
  AbortError,
  ToolExecutionError,
  ConfigurationError,
})) {
  const symbol = Symbol.for(`stet.error.${name}`)
  brands.set(type, symbol)
  Object.defineProperties(type.prototype, {
    [symbol]: { value: true },
    name: { value: name, writable: true },
  })
}

/** An error whose `details` have the type of its `reason`. */
export type ErrorWithReason<R extends keyof ErrorDetails> = ApiError & {
  readonly reason: R
  readonly details: ErrorDetails[R]
}

/**
 * True for an error with this `reason`, whose `details` then have their type.
 *
 * @example if (hasReason(e, 'unknown-document')) console.error('Did you mean', e.details.suggestions)
 */
export function hasReason<R extends keyof ErrorDetails>(e: unknown, reason: R): e is ErrorWithReason<R> {
  return e instanceof ApiError && e.reason === reason
}

const classByStatus: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
}

export function errorClassOf(status: number): typeof ApiError {
  return classByStatus[status] ?? (status >= 500 ? InternalServerError : ApiError)
}
