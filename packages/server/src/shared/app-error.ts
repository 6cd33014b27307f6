import {
  type CauseEntry,
  ERROR_CAUSES,
  type ErrorCause,
  type ErrorCode,
  type RunErrorCode,
} from '@stet/contract/vocabulary'

type Causes = typeof ERROR_CAUSES
type KeyIn<C extends ErrorCause, Field extends 'details' | 'inMessage'> =
  Causes[C] extends Record<Field, readonly (infer K extends string)[]> ? K : never
type DetailKey<C extends ErrorCause> = KeyIn<C, 'details'> | KeyIn<C, 'inMessage'>

/** The causes that `refuse` accepts. A failed run throws `RunError` instead. */
export type RefusalCause = { [C in ErrorCause]: Causes[C]['code'] extends 'DocumentRunError' ? never : C }[ErrorCause]

export type ErrorDetails = Record<string, unknown>

/** `message` and `details` are sent to callers, so they must not contain driver text, file paths or secrets. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly reason: RefusalCause
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(reason: RefusalCause, details: ErrorDetails = {}, options?: ErrorOptions) {
    const { message, inMessage = [] }: CauseEntry = ERROR_CAUSES[reason]
    super(fillIn(message, details), options)
    this.reason = reason
    this.code = ERROR_CAUSES[reason].code
    this.details = Object.fromEntries(Object.entries(details).filter(([key]) => !inMessage.includes(key)))
  }
}

/** Takes the error's code and message from the contract's table of causes. */
export function refuse<C extends RefusalCause>(
  cause: C,
  ...[details, options]: [DetailKey<C>] extends [never]
    ? [details?: Record<string, never>, options?: ErrorOptions]
    : [details: Record<DetailKey<C>, unknown>, options?: ErrorOptions]
): AppError {
  return new AppError(cause, details, options)
}

/** Returns the details of an error for a rule that no schema can express. */
export function issueAt(path: string, message: string): { issues: unknown[] } {
  return { issues: [{ path: path.split('.'), code: 'custom', message }] }
}

/** True for a temporary refusal: the same request may succeed later. */
export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'ServiceUnavailableError'
}

function isNotFound(error: unknown): boolean {
  return error instanceof AppError && error.code === 'NotFoundError'
}

/** Resolves with undefined if the work fails because something does not exist. */
export async function foundOrUndefined<T>(work: Promise<T>, isMissing = isNotFound): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
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

/** A failure that ends the server or an operator command. The operator sees only `message`, without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** Replaces `{key}`, `{list.length}` and `{list.0.key}` with values from the details. Joins the items of a list. */
function fillIn(template: string, details: ErrorDetails): string {
  return template.replace(/\{([\w.]+)\}/g, (_, place: string) => {
    const value = place.split('.').reduce<unknown>((found, key) => Object(found)[key], details)
    if (!Array.isArray(value)) return String(value)
    return place.endsWith('.path') ? pathText(value) || 'body' : value.join(', ')
  })
}

/** @example pathText(['messages', 0, 'role']) // 'messages[0].role' */
function pathText(path: readonly unknown[]): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at > 0 ? '.' : ''}${part}`)).join('')
}
