/** The values of an error's `name`. The name of a failed run is `DocumentRunError` instead. */
export const ERROR_CODES = [
  'BadRequestError',
  'UnauthorizedError',
  'ForbiddenError',
  'NotFoundError',
  'MethodNotAllowedError',
  'ConflictError',
  'PreconditionFailedError',
  'PayloadTooLargeError',
  'UnsupportedMediaTypeError',
  'UnprocessableEntityError',
  'RateLimitError',
  'InternalServerError',
  'ServiceUnavailableError',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** The HTTP parser also returns 408 and 431, before routing, and the script of the API reference 406. */
export const STATUS_BY_CODE = {
  BadRequestError: 400,
  UnauthorizedError: 401,
  ForbiddenError: 403,
  NotFoundError: 404,
  MethodNotAllowedError: 405,
  ConflictError: 409,
  PreconditionFailedError: 412,
  PayloadTooLargeError: 413,
  UnsupportedMediaTypeError: 415,
  UnprocessableEntityError: 422,
  DocumentRunError: 422,
  RateLimitError: 429,
  InternalServerError: 500,
  ServiceUnavailableError: 503,
} as const satisfies Record<ErrorCode | 'DocumentRunError', number>

/** Why a run failed. This is the `errorCode` of a `DocumentRunError` and of a `chain-error` event. */
export const RUN_ERROR_CODES = [
  'chain_compile_error',
  'document_config_error',
  'missing_provider_error',
  'ai_provider_config_error',
  'ai_run_error',
  'rate_limit_error',
  'max_step_count_exceeded_error',
  'invalid_response_format_error',
  'unsupported_provider_response_type_error',
  'unsupported_feature_error',
  'abort_error',
  'run_timeout_error',
  'worker_lost',
  'unknown_error',
] as const
export type RunErrorCode = (typeof RUN_ERROR_CODES)[number]

/**
 * The body of every error. `errorCode` repeats the name, except for run errors and `internal_server_error`.
 * @example { name: 'NotFoundError', message: 'Conversation not found', errorCode: 'NotFoundError', reason: 'unknown-conversation', details: {} }
 */
export interface ErrorBody {
  name: ErrorCode | 'DocumentRunError'
  message: string
  errorCode: Exclude<ErrorCode, 'InternalServerError'> | 'internal_server_error' | RunErrorCode
  /** The cause (docs/errors.md). For a failed run, `errorCode` says more. */
  reason: string
  /** Data for the caller; empty for many causes. */
  details: { [key: string]: unknown }
  /** Repeats the message. Only errors of attach have this field. */
  error?: { message: string }
}
