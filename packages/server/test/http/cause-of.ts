/** Reads out of an error why it was given: each cause is told from all others by its name, code, message or details. */
import { ERROR_CAUSES, type ErrorCause } from '@stet/contract'
import { bodyKeys } from './api-description.ts'
import type { WalkedRoute } from './contract-routes.ts'

export interface ReadError {
  name: string
  errorCode: string
  message: string
  details: Record<string, unknown>
}

const nameOf: Record<number, string> = {
  400: 'BadRequestError',
  401: 'UnauthorizedError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  409: 'ConflictError',
  412: 'PreconditionFailedError',
  413: 'PayloadTooLargeError',
  415: 'UnsupportedMediaTypeError',
  422: 'UnprocessableEntityError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  503: 'ServiceUnavailableError',
}

/** Of a route that reads no body the keys are undefined. */
type Tell = (error: ReadError, bodyKeys: readonly string[] | undefined) => boolean

const says =
  (message: RegExp, ...keys: string[]): Tell =>
  (error) =>
    message.test(error.message) && keys.every((key) => key in error.details)
const because =
  (reason: string): Tell =>
  ({ details }) =>
    details['reason'] === reason

type Place = 'query' | 'body' | 'Idempotency-Key'

/** Where the first issue of a refused request lies. Of a key that no schema knows its kind of refusal decides. */
function placeOf({ message, details }: ReadError, keys: readonly string[] | undefined): Place | undefined {
  const [issue] = (details['issues'] ?? []) as { path: (string | number)[]; message: string }[]
  if (!issue || !message.startsWith('Invalid request: ')) return undefined
  const [first] = issue.path
  if (first === 'Idempotency-Key') return 'Idempotency-Key'
  if (!keys) return 'query'
  return first === undefined || keys.includes(String(first)) || !isRefusedText(issue.message) ? 'body' : 'query'
}

const isRefusedText = (message: string) => /must not contain (NUL|lone surrogates)/.test(message)

const isFailedRun = ({ name, errorCode, details }: ReadError) =>
  name === 'DocumentRunError' && (errorCode !== 'chain_compile_error' || 'conversationUuid' in details)

const tells: Record<ErrorCause, Tell> = {
  'refused-query': (error, keys) => placeOf(error, keys) === 'query' && isRefusedText(error.message),
  'invalid-query': (error, keys) => placeOf(error, keys) === 'query' && !isRefusedText(error.message),
  'malformed-path': says(/^Malformed path$/),
  'malformed-compression': says(/^Malformed compressed request body$/),
  'malformed-json': says(/^Malformed JSON in request body$/),
  'invalid-body': (error, keys) => placeOf(error, keys) === 'body',
  'invalid-idempotency-key': (error, keys) => placeOf(error, keys) === 'Idempotency-Key',
  'invalid-path': says(/^Invalid path: /),
  'repeated-path': says(/^A push names each path once/, 'path'),
  'merged-version': says(/^Cannot modify a merged commit/),
  'live-hash-of-merged': says(/^liveHash can only be sent when writing to a draft$/),
  'not-a-draft': says(/^Cannot publish: version is not a draft$/),
  'messages-with-steps': says(/^messages cannot be combined with <step>$/),
  'other-name': says(/^The given name is not the name of the project$/),
  'unknown-tool-call': says(/^There is no tool call '.*' in the conversation$/s, 'toolCallId'),

  'no-key': says(/^Authorization token required$/),
  'unknown-key': says(/^Invalid authorization token$/),
  'wrong-metrics-token': says(/^Invalid authorization token$/),

  'missing-scope': says(/^This API key lacks the scope '/, 'required'),
  'missing-publish-scope': says(/^The API key lacks the scope 'publish'$/, 'required'),
  'restricted-key': because('project_restricted'),
  'metrics-elsewhere': says(/^Metrics are served on loopback only/),

  'unknown-project': says(/^Project not found$/),
  'unknown-version': says(/^Version not found$/),
  'nothing-live': says(/^The project has no live version yet$/),
  'unknown-document': says(/^Document not found/),
  'unknown-conversation': says(/^Conversation not found$/),
  'unknown-evaluation': says(/^Evaluation not found$/),
  'unknown-api-key': says(/^API key not found$/),
  'unknown-provider-key': says(/^Provider key not found$/),
  'unissued-tool-call': says(/^Tool call not found$/),

  'idempotency-in-progress': because('in_progress'),
  'idempotency-unreadable': because('unreadable'),
  'path-taken': says(/^A document with the same path already exists$/, 'path'),
  'other-base': says(/since the given baseHash/, 'conflicts'),
  'other-live': says(/^\d+ live text\(s\) changed since the given liveHash$/, 'conflicts'),
  'live-changed': says(/^The live version changed \d+ document/, 'conflicts'),
  'draft-kept-changing': because('changing'),
  'conversation-busy': says(/^The conversation is busy$/, 'retryAfter'),
  'project-busy': because('active_runs'),
  'revoked-key': because('revoked'),
  'expired-key': because('expired'),
  'last-admin-key': because('last_admin_key'),
  'name-taken': says(/^A provider named '.*' exists already$/s),
  'fixed-entry': says(/^Entries of the environment and the demo provider/),

  'if-match': says(/^If-Match does not hold/, 'path'),
  'if-none-match': says(/^If-None-Match does not hold/, 'path'),

  'body-too-large': says(/^Request body is too large$/, 'limit'),

  'content-type': says(/^Content-Type must be /),
  'content-encoding': says(/^Content-Encoding must be /),

  'idempotency-reuse': says(/^Idempotency-Key was already used with a different request$/),
  'draft-does-not-compile': says(/^There are errors in \d+ document/, 'documents'),
  parameters: ({ name, details }) =>
    name === 'UnprocessableEntityError' && ('missing' in details || 'invalid' in details),
  'score-range': says(/^The score must be /, 'min', 'max'),
  'prompt-does-not-compile': (error) => error.name === 'DocumentRunError' && !isFailedRun(error),
  'run-failed': isFailedRun,

  'rate-limited': says(/^Too many requests$/, 'limit', 'retryAfter'),
  'failed-authentications': (error) => error.message === 'Too many requests' && !('limit' in error.details),
  'too-many-streams': says(/^Too many open event streams$/, 'limit'),

  unforeseen: says(/^Internal server error$/, 'requestId'),

  'not-ready': says(/^Not ready$/, 'checks'),
  stopping: says(/^The server is stopping$/),
  'database-away': says(/^The (database is not available|disk of the database is almost full)/),
  'queue-full': says(/^Too many queued runs$/, 'retryAfter'),
  'too-many-evaluations': says(/^(Too many prompts wait|This (API key|workspace) has too many prompts)/, 'retryAfter'),
  'run-out-of-reach': says(/^The run cannot be followed at present$/),
}

// It is worded like that of an unknown key; they are told apart by where they come from.
const ofOperations: readonly ErrorCause[] = ['wrong-metrics-token']

/** Whether an error of that status tells this cause. */
export function fitsCause(cause: ErrorCause, status: number, error: ReadError, keys?: readonly string[]): boolean {
  const name = error.name === 'DocumentRunError' && status === 422 ? 'DocumentRunError' : nameOf[status]
  const code = status === 500 ? 'internal_server_error' : name
  if (error.name !== name || (name !== 'DocumentRunError' && error.errorCode !== code)) return false
  return ERROR_CAUSES[cause].status === status && tells[cause](error, keys)
}

/** The one cause that a route's answer fits; undefined for none. @throws Error for more than one. */
export function causeOf(route: WalkedRoute, status: number, error: ReadError): ErrorCause | undefined {
  const keys = bodyKeys(route)
  const fitting = (Object.keys(tells) as ErrorCause[]).filter(
    (cause) => !ofOperations.includes(cause) && fitsCause(cause, status, error, keys),
  )
  if (fitting.length > 1) throw new Error(`${route.name} ${status}: ${fitting.join(' or ')}? ${error.message}`)
  return fitting[0]
}
