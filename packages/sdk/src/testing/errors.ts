import { ERROR_CAUSES, type RunErrorCode } from '@stet/contract/vocabulary'
import { similarNames } from '@stet/template/similar-names'
import {
  ApiError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  type ErrorDetails,
  type ErrorReason,
  type ErrorWithReason,
  ForbiddenError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
  RunError,
  UnauthorizedError,
  UnprocessableEntityError,
} from '../index.ts'

/** Optional fields of a made error. */
export interface ErrorOptions {
  /** Default: the server's message for this reason. */
  message?: string
  requestId?: string | null
  headers?: Record<string, string>
  method?: string
  url?: string
}

/** The facts of a failed run. All are optional. */
export interface FailedRun extends ErrorOptions {
  details?: Record<string, unknown>
  conversationUuid?: string
  /** The text that the run had produced. */
  text?: string
  /** The path of the prompt, for the message. */
  prompt?: string
}

const UUID = '00000000-0000-4000-8000-000000000000'

/** The classes of the main entry, by status: an application has one copy of them. */
const TYPES: Record<number, typeof ApiError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
}

/** Details that a test leaves out. The types of `ErrorDetails` decide which of them an error has. */
const USUAL: Record<string, unknown> = {
  issues: [{ path: 'body', message: 'Invalid input' }],
  path: 'support/reply',
  paths: ['support/reply'],
  suggestions: [],
  limit: 10,
  retryAfter: 1,
  toolCallId: 'call_1',
  tag: 'feedback:up',
  required: 'run',
  method: 'PATCH',
  allow: ['GET'],
  current: null,
  conflicts: [{ path: 'support/reply', expected: 'a', actual: 'b' }],
  name: 'openai',
  unit: 'examples',
  documents: [{ path: 'support/reply', documentUuid: UUID, errors: [] }],
  missing: ['ticket'],
  invalid: [{ name: 'ticket', expected: 'text' }],
  min: 1,
  max: 5,
  limitMb: 1024,
  storedMb: 1024,
  requestId: 'req_test',
  checks: { database: false },
  limitOf: 'workspace',
  fault: 'it has no `schema` of type object',
  gates: [{ path: 'support/reply', verdict: 'fail', message: '3 rows broke' }],
  count: 1,
  rows: [{ uuid: UUID, name: 'angry-customer', reason: 'missing-parameters', missing: ['ticket'] }],
  runs: 600,
  experimentUuid: UUID,
}

type Details<R> = R extends keyof ErrorDetails ? Partial<ErrorDetails[R]> : Record<string, never>
type Made<R> = R extends keyof ErrorDetails ? ErrorWithReason<R> : ApiError

/**
 * Makes the errors that the client throws. `api` takes the `reason` of a refused request, `run` the `errorCode` of a
 * failed run.
 *
 * @example
 * const stet = createMockStet({
 *   'support/reply': errors.run('ai_run_error'),
 *   'support/triage': errors.api('unknown-document', { suggestions: ['support/triage-2'] }),
 * })
 */
export const errors = {
  api<R extends ErrorReason>(reason: R, details: Details<R> = {} as Details<R>, o: ErrorOptions = {}): Made<R> {
    const cause = causeOf(reason)
    const { status } = cause
    const type = TYPES[status] ?? (status >= 500 ? InternalServerError : ApiError)
    const all = { ...Object.fromEntries((cause.details ?? []).map((key) => [key, USUAL[key]])), ...details }
    const code = cause.code === 'InternalServerError' ? 'internal_server_error' : cause.code
    const message = o.message ?? filled(cause.message, { ...USUAL, ...all })
    return new type({ ...facts(o, status), errorCode: code, reason, message, details: all }) as Made<R>
  },

  run(code: RunErrorCode | (string & {}), o: FailedRun = {}): RunError {
    const { details = usualDetails(code), conversationUuid = UUID, text = '', prompt, message } = o
    return new RunError({
      ...facts(o, 422),
      errorCode: code,
      message: message ?? usualMessage(code, details),
      details,
      conversationUuid,
      partial: { text, conversation: [] },
      prompt,
    })
  },
}

function causeOf(reason: string): { code: string; status: number; message: string; details?: readonly string[] } {
  if (Object.hasOwn(ERROR_CAUSES, reason)) return ERROR_CAUSES[reason as ErrorReason]
  const [meant] = similarNames(reason, Object.keys(ERROR_CAUSES), { limit: 1, atLeast: 0.5 })
  const hint = meant === undefined ? '' : `, did you mean "${meant}"?`
  throw new ConfigurationError(`errors.api: there is no reason "${reason}"${hint}`)
}

function facts(
  { requestId = null, headers, method = 'POST', url = 'http://127.0.0.1:8787/api/v3' }: ErrorOptions,
  status: number,
) {
  return { status, requestId, headers: new Headers(headers), serverResponse: '', method, url, attempts: 1 }
}

function usualDetails(code: string): Record<string, unknown> {
  if (code === 'ai_run_error') return { provider: 'openai', status: 500, providerMessage: 'The model failed' }
  if (code === 'rate_limit_error') return { provider: 'openai', status: 429, providerMessage: 'Rate limit reached' }
  if (code === 'invalid_response_format_error') return { text: 'Hello', finishReason: 'stop' }
  return {}
}

function usualMessage(code: string, details: Record<string, unknown>): string {
  if (code === 'invalid_response_format_error') return 'The response was requested as JSON, but it does not parse'
  return String(details['providerMessage'] ?? `The run failed (${code})`)
}

/** Fills `{key}`, `{list.length}` and `{list.0.key}`. */
function filled(message: string, details: Record<string, unknown>): string {
  return message.replace(/\{([\w.]+)\}/g, (whole, keys: string) => {
    const found = keys
      .split('.')
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], details)
    return found === undefined ? whole : String(found)
  })
}
