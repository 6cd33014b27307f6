/** The closed list of errors that stet reports. http maps each code to its status. */
export type ErrorCode =
  | 'BadRequestError'
  | 'UnauthorizedError'
  | 'ForbiddenError'
  | 'NotFoundError'
  | 'MethodNotAllowedError'
  | 'ConflictError'
  | 'PreconditionFailedError'
  | 'PayloadTooLargeError'
  | 'UnsupportedMediaTypeError'
  | 'UnprocessableEntityError'
  | 'RateLimitError'
  | 'InternalServerError'
  | 'ServiceUnavailableError'

/** Why a run failed. On the wire: `DocumentRunError` with the run code as `errorCode`. */
export type RunErrorCode =
  | 'chain_compile_error'
  | 'document_config_error'
  | 'missing_provider_error'
  | 'ai_provider_config_error'
  | 'ai_run_error'
  | 'rate_limit_error'
  | 'max_step_count_exceeded_error'
  | 'invalid_response_format_error'
  | 'unsupported_provider_response_type_error'
  | 'unsupported_feature_error'
  | 'abort_error'
  | 'run_timeout_error'
  | 'worker_lost'
  | 'unknown_error'

export type ErrorDetails = Record<string, unknown>

/** An error for callers. `message` and `details` go on the wire, so they contain no driver text, path or secret. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
  }
}

/** A run that failed, or a prompt that cannot run. On the wire: 422 `DocumentRunError`, or a `chain-error` event. */
export class RunError extends Error {
  override readonly name = 'RunError'
  readonly code: RunErrorCode
  readonly details: ErrorDetails

  constructor(code: RunErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
  }
}

/** A failure that ends a start or a command. The operator sees `message` without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

export const invalid = (message: string, details?: ErrorDetails): AppError =>
  new AppError('BadRequestError', message, details ? { details } : {})

export const conflict = (message: string, details?: ErrorDetails): AppError =>
  new AppError('ConflictError', message, details ? { details } : {})

export const notFound = (message: string, details?: ErrorDetails): AppError =>
  new AppError('NotFoundError', message, details ? { details } : {})

export const unprocessable = (message: string, details?: ErrorDetails): AppError =>
  new AppError('UnprocessableEntityError', message, details ? { details } : {})

/** A merged version refuses changes. `hint` is appended for routes that accept `force`. */
export const mergedVersion = (hint = ''): AppError => invalid(`Cannot modify a merged commit${hint}`)
