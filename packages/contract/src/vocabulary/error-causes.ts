/**
 * Lists why the server refuses requests. Error bodies, the OpenAPI document and docs/errors.md derive from this table.
 */
import { type ErrorCode, STATUS_BY_CODE } from './error-codes.ts'

export interface CauseEntry {
  /** `DocumentRunError` means that a run failed. The error's `errorCode` then names why. */
  code: ErrorCode | 'DocumentRunError'
  /** `{key}` inserts a detail. `{list.length}` and `{list.0.key}` insert a part of a detail. */
  message: string
  /** Keys of `details`. A key with `?` is optional. */
  details?: readonly string[]
  /** Keys that only fill the message and are not sent in `details`. */
  inMessage?: readonly string[]
  /** True if waiting does not help, although the status says so. Clients must not repeat the request. */
  isLasting?: true
}

const INVALID = 'Invalid request: {issues.0.path}: {issues.0.message}'

export const ERROR_CAUSES = {
  'refused-query': { code: 'BadRequestError', message: INVALID, details: ['issues'] },
  'invalid-query': { code: 'BadRequestError', message: INVALID, details: ['issues'] },
  'invalid-body': { code: 'BadRequestError', message: INVALID, details: ['issues'] },
  'invalid-idempotency-key': { code: 'BadRequestError', message: INVALID, details: ['issues'] },
  'malformed-path': { code: 'BadRequestError', message: 'Malformed path' },
  'malformed-compression': { code: 'BadRequestError', message: 'Malformed compressed request body' },
  'malformed-json': { code: 'BadRequestError', message: 'Malformed JSON in request body' },
  'incomplete-body': { code: 'BadRequestError', message: 'The request body ended early' },
  'malformed-http': { code: 'BadRequestError', message: 'Malformed HTTP request' },
  'slow-request': { code: 'BadRequestError', message: 'The request took too long to arrive' },
  'head-too-large': { code: 'BadRequestError', message: 'The request headers are larger than 16 KB' },
  'compressed-only': { code: 'BadRequestError', message: 'This file is only served with Content-Encoding: gzip' },
  'invalid-path': {
    code: 'BadRequestError',
    message: "Invalid path: use letters, numbers, '.', '-' and '_', with '/' between folders",
    details: ['path'],
  },
  'path-too-long': {
    code: 'BadRequestError',
    message: 'Invalid path: longer than {limit} bytes',
    details: ['limit'],
  },
  'repeated-path': { code: 'BadRequestError', message: 'Duplicate path in the push: {path}', details: ['path'] },
  'merged-version': { code: 'BadRequestError', message: 'Cannot modify a merged commit' },
  'merged-without-force': {
    code: 'BadRequestError',
    message: 'Cannot modify a merged commit; use force=true to allow it',
  },
  'live-hash-of-merged': { code: 'BadRequestError', message: 'liveHash can only be sent when writing to a draft' },
  'not-a-draft': { code: 'BadRequestError', message: 'Cannot publish: version is not a draft' },
  'messages-with-steps': { code: 'BadRequestError', message: 'messages cannot be combined with <step>' },
  'wrong-project-name': { code: 'BadRequestError', message: 'The name does not match the project' },
  'unknown-tool-call': {
    code: 'BadRequestError',
    message: "There is no tool call '{toolCallId}' in the conversation",
    details: ['toolCallId'],
  },

  'no-key': { code: 'UnauthorizedError', message: 'Authorization token required' },
  'other-person': { code: 'UnauthorizedError', message: 'Another person has signed in with this browser' },
  'unknown-key': { code: 'UnauthorizedError', message: 'Invalid authorization token' },
  'sign-in-refused': {
    code: 'UnauthorizedError',
    message: 'This sign-in link or API key is not valid. Create a new link with `stet console`.',
  },
  'wrong-metrics-token': { code: 'UnauthorizedError', message: 'Invalid authorization token' },

  'missing-scope': {
    code: 'ForbiddenError',
    message: "This API key lacks the scope '{required}'",
    details: ['required'],
  },
  'missing-publish-scope': {
    code: 'ForbiddenError',
    message: "This API key lacks the scope 'publish', which force=true needs for a merged version",
    details: ['required'],
  },
  'restricted-key': {
    code: 'ForbiddenError',
    message: 'This API key is restricted to one project',
  },
  'metrics-loopback-only': {
    code: 'ForbiddenError',
    message: 'Metrics are served on loopback only, unless a token is configured (STET_METRICS_TOKEN)',
  },

  'unknown-route': {
    code: 'NotFoundError',
    message: 'Route not found: {method} {path}',
    inMessage: ['method', 'path'],
  },
  'unknown-project': { code: 'NotFoundError', message: 'Project not found' },
  'unknown-version': { code: 'NotFoundError', message: 'Version not found' },
  'nothing-live': { code: 'NotFoundError', message: 'The project has no live version yet' },
  'unknown-document': {
    code: 'NotFoundError',
    message: 'Document not found at path: {path}',
    details: ['path', 'suggestions'],
  },
  'unknown-document-uuid': { code: 'NotFoundError', message: 'Document not found' },
  'unknown-conversation': { code: 'NotFoundError', message: 'Conversation not found' },
  'unknown-evaluation': { code: 'NotFoundError', message: 'Evaluation not found' },
  'unknown-example': { code: 'NotFoundError', message: 'Example not found' },
  'unknown-api-key': { code: 'NotFoundError', message: 'API key not found' },
  'unknown-session': { code: 'NotFoundError', message: 'Session not found' },
  'unknown-provider-key': { code: 'NotFoundError', message: 'Provider key not found' },
  'unissued-tool-call': { code: 'NotFoundError', message: 'Tool call not found' },
  erased: {
    code: 'NotFoundError',
    message: 'What the first request with this Idempotency-Key created has been deleted',
  },

  'method-not-allowed': {
    code: 'MethodNotAllowedError',
    message: 'Method not allowed: {method}',
    details: ['method', 'allow'],
  },

  'idempotency-in-progress': {
    code: 'ConflictError',
    message: 'A request with this Idempotency-Key is in progress',
    details: ['retryAfter'],
  },
  'idempotency-unreadable': {
    code: 'ConflictError',
    message: 'The response stored for this Idempotency-Key can no longer be read',
  },
  'path-taken': {
    code: 'ConflictError',
    message: 'A document with the same path already exists: {path}',
    details: ['path'],
  },
  'version-uuid-taken': { code: 'ConflictError', message: 'A version with this uuid already exists' },
  'base-changed': {
    code: 'ConflictError',
    message: '{conflicts.length} prompt(s) changed since the given hash, first {conflicts.0.path}',
    details: ['conflicts'],
  },
  'live-text-changed': {
    code: 'ConflictError',
    message: '{conflicts.length} live text(s) changed since the given liveHash, first {conflicts.0.path}',
    details: ['conflicts'],
  },
  'live-changed': {
    code: 'ConflictError',
    message: 'The live version changed {conflicts.length} prompt(s) that this draft also changes',
    details: ['conflicts'],
  },
  'draft-kept-changing': {
    code: 'ConflictError',
    message: 'The draft kept changing while it was compiled; try again',
  },
  'conversation-busy': {
    code: 'ConflictError',
    message: 'The conversation already has an active run',
    details: ['retryAfter'],
  },
  'project-busy': { code: 'ConflictError', message: 'The project has active runs' },
  'revoked-key': { code: 'ConflictError', message: 'The API key is revoked' },
  'expired-key': { code: 'ConflictError', message: 'The API key has expired' },
  'last-admin-key': {
    code: 'ConflictError',
    message: 'The last admin key cannot be revoked',
  },
  'name-taken': {
    code: 'ConflictError',
    message: "A provider key named '{name}' already exists",
    details: ['name'],
  },
  'example-name-taken': {
    code: 'ConflictError',
    message: "The prompt already has an example named '{name}'",
    details: ['name'],
  },
  'too-many-examples': {
    code: 'ConflictError',
    message: 'The examples of a prompt are limited to {limit} {unit}',
    details: ['limit', 'unit'],
  },
  'built-in-provider-key': {
    code: 'ConflictError',
    message: 'Provider keys from the environment and the demo provider cannot be changed or deleted',
  },

  'if-match-failed': {
    code: 'PreconditionFailedError',
    message: 'If-Match failed for the document at path: {path}',
    details: ['path'],
  },
  'if-none-match-failed': {
    code: 'PreconditionFailedError',
    message: 'If-None-Match failed for the document at path: {path}',
    details: ['path'],
  },

  'body-too-large': {
    code: 'PayloadTooLargeError',
    message: 'Request body is larger than {limit} bytes',
    details: ['limit'],
  },
  'list-too-large': {
    code: 'PayloadTooLargeError',
    message:
      'The list is larger than {limit} bytes. Leave out the resolved texts with resolved=false, or read pages with limit and cursor.',
    details: ['limit'],
  },

  'unsupported-content-type': {
    code: 'UnsupportedMediaTypeError',
    message: 'Content-Type must be application/json',
  },
  'unsupported-content-encoding': {
    code: 'UnsupportedMediaTypeError',
    message: 'Content-Encoding must be gzip, deflate or br',
  },

  'idempotency-key-reused': {
    code: 'UnprocessableEntityError',
    message: 'Idempotency-Key was already used with a different request',
  },
  'release-refused': {
    code: 'ConflictError',
    message: 'The checks of the release refuse it',
    details: ['checks'],
  },
  'draft-does-not-compile': {
    code: 'UnprocessableEntityError',
    message: 'There are errors in {documents.length} prompt(s)',
    details: ['documents'],
  },
  'missing-parameters': {
    code: 'UnprocessableEntityError',
    message: 'Missing parameters: {missing}',
    details: ['missing', 'invalid'],
  },
  'invalid-parameters': {
    code: 'UnprocessableEntityError',
    message: "Parameter '{invalid.0.name}' must be {invalid.0.expected}",
    details: ['missing', 'invalid'],
  },
  'score-out-of-range': {
    code: 'UnprocessableEntityError',
    message: 'The score must be from {min} to {max}',
    details: ['min', 'max'],
  },
  'score-not-binary': {
    code: 'UnprocessableEntityError',
    message: 'The score must be 0 or 1',
    details: ['min', 'max'],
  },
  'prompt-does-not-compile': { code: 'DocumentRunError', message: 'The prompt does not compile' },
  'run-failed': { code: 'DocumentRunError', message: 'The run failed' },

  'rate-limited': {
    code: 'RateLimitError',
    message: 'Too many requests: this API key may send {limit} per second',
    details: ['limit', 'retryAfter'],
  },
  'failed-authentications': {
    code: 'RateLimitError',
    message: 'Too many requests with invalid API keys from this address',
    details: ['retryAfter'],
  },
  'too-many-bytes': {
    code: 'RateLimitError',
    message: 'Too many bytes: this API key may send {limit} per second',
    details: ['limit', 'retryAfter'],
  },
  'workspace-full': {
    code: 'RateLimitError',
    message: 'The workspace is full: it may store {limitMb} MB and stores about {storedMb} MB',
    details: ['limitMb', 'storedMb', 'retryAfter'],
    // A workspace does not become smaller by itself.
    isLasting: true,
  },
  'too-many-streams': {
    code: 'RateLimitError',
    message: 'Too many open event streams: this API key may have {limit}',
    details: ['limit', 'retryAfter'],
  },

  unforeseen: { code: 'InternalServerError', message: 'Internal server error', details: ['requestId'] },
  'run-not-stored': { code: 'InternalServerError', message: 'The run could not be stored' },

  'not-ready': { code: 'ServiceUnavailableError', message: 'Not ready', details: ['checks'] },
  'server-stopping': { code: 'ServiceUnavailableError', message: 'The server is stopping' },
  'database-unavailable': {
    code: 'ServiceUnavailableError',
    message: 'The database is not available; try again later',
  },
  'disk-full': {
    code: 'ServiceUnavailableError',
    message: 'The database disk is almost full: writes are refused',
  },
  'queue-full': {
    code: 'ServiceUnavailableError',
    message: 'Too many queued runs for this API key',
    details: ['retryAfter'],
  },
  'queue-unavailable': {
    code: 'ServiceUnavailableError',
    message: 'The queue for background runs is not available; nothing was queued',
    details: ['retryAfter'],
  },
  'too-many-evaluations': {
    code: 'ServiceUnavailableError',
    message: 'Too many prompt evaluations for this {limitOf}',
    details: ['limitOf', 'retryAfter'],
  },
  'too-many-unread-responses': {
    code: 'ServiceUnavailableError',
    message: 'Too many large responses are waiting to be read',
  },
  'run-out-of-reach': {
    code: 'ServiceUnavailableError',
    message: 'Another server process supervises the run; try again later',
    details: ['retryAfter'],
  },
  'client-disconnected': { code: 'ServiceUnavailableError', message: 'The client disconnected' },
} as const satisfies Record<string, CauseEntry>

export type ErrorCause = keyof typeof ERROR_CAUSES

/** The `reason` of an error body. A failed run also has an `errorCode`, which names its cause. */
export type ErrorReason = ErrorCause

/** @example statusOf('unknown-project') // 404 */
export function statusOf(cause: ErrorCause): number {
  if (cause === 'compressed-only') return 406
  if (cause === 'slow-request') return 408
  if (cause === 'head-too-large') return 431
  return STATUS_BY_CODE[ERROR_CAUSES[cause].code]
}
