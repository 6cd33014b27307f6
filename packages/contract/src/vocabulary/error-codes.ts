/**
 * The values of an error's `name`, each with its status. The HTTP parser also returns 408 and 431, before routing, and
 * the script of the API reference 406.
 */
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
  RateLimitError: 429,
  InternalServerError: 500,
  ServiceUnavailableError: 503,
  DocumentRunError: 422,
} as const

/** The name of a refused request. The name of a failed run is `DocumentRunError` instead. */
export type ErrorCode = Exclude<keyof typeof STATUS_BY_CODE, 'DocumentRunError'>

export interface CauseEntry {
  /** `DocumentRunError` means that a run failed. The error's `errorCode` then names why. */
  code: keyof typeof STATUS_BY_CODE
  /** `{key}` inserts a detail. `{list.length}` and `{list.0.key}` insert a part of a detail. */
  message: string
  /** Keys of `details`. */
  details?: readonly string[]
  /** Keys that only fill the message and are not sent in `details`. */
  inMessage?: readonly string[]
  /** True if waiting does not help, although the status says so. Clients must not repeat the request. */
  isLasting?: true
}
