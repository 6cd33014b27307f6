import { z } from 'zod'
import { type Held, JsonObject } from './common.ts'
import { ERROR_CODES, RUN_ERROR_CODES } from './vocabulary/error-codes.ts'
import type * as vocabulary from './vocabulary/index.ts'

export const ErrorCode = z.enum(ERROR_CODES)
export type ErrorCode = Held<z.infer<typeof ErrorCode>, vocabulary.ErrorCode>

export const RunErrorCode = z.enum(RUN_ERROR_CODES)
export type RunErrorCode = Held<z.infer<typeof RunErrorCode>, vocabulary.RunErrorCode>

export const ErrorBody = z
  .object({
    name: z.enum([...ErrorCode.options, 'DocumentRunError']),
    message: z.string(),
    errorCode: z
      .enum([...ErrorCode.exclude(['InternalServerError']).options, 'internal_server_error', ...RunErrorCode.options])
      .meta({ description: 'The name, or the code of the run error, or `internal_server_error`.' }),
    details: JsonObject.meta({ description: 'What the caller can act on; `{}` when there is nothing.' }),
    error: z.object({ message: z.string() }).exactOptional().meta({
      description: 'Errors of attach only: the same message once more.',
    }),
  })
  .meta({
    id: 'ErrorBody',
    description:
      'The body of every error. Names, codes and the keys of `details` are stable; messages may grow more precise.',
  })
export type ErrorBody = Held<z.infer<typeof ErrorBody>, vocabulary.ErrorBody>

/** The statuses that a route may declare, and what each is used for. */
export const ERROR_STATUSES = {
  400: 'The request is not valid, or the state of the resource does not allow it.',
  401: 'No key was sent, or the key is not valid.',
  403: 'The key lacks the scope, or is restricted to another project.',
  404: 'Unknown, or not visible to this key.',
  409: 'The state on the server is another one than the caller assumes.',
  412: 'A precondition header does not hold.',
  413: 'The body is over its limit.',
  415: 'The body is not JSON.',
  422: 'Understood, but it cannot be done: a prompt that does not compile, parameters, a failed run.',
  429: 'The key is over its rate limit.',
  500: 'Unforeseen; `details.requestId` finds it in the log.',
  503: 'Not now; nothing was done. `Retry-After` says when to come back.',
} as const
export type ErrorStatus = keyof typeof ERROR_STATUSES

/**
 * The responses of a route with those of its errors. Which of these it gives follows from its causes
 * (`error-causes.ts`): contract.ts keeps those, and the type leaves out none that might be.
 *
 * @example
 * responses: withErrors({ 200: Version })
 */
export function withErrors<const R extends object>(successes: R): R & Record<ErrorStatus, typeof ErrorBody> {
  const statuses = Object.keys(ERROR_STATUSES).map(Number) as ErrorStatus[]
  const errors = Object.fromEntries(statuses.map((status) => [status, ErrorBody]))
  return { ...successes, ...errors } as R & Record<ErrorStatus, typeof ErrorBody>
}
