import { z } from 'zod'
import { RUN_ERRORS } from './causes/run-errors.ts'
import { STATUS_BY_CODE } from './vocabulary/error-codes.ts'

export const RunErrorCode = z.enum(keysOf(RUN_ERRORS)).meta({
  description: 'Why a run failed. This is the `errorCode` of a `DocumentRunError` and of a `chain-error` event.',
})

const names = keysOf(STATUS_BY_CODE)
const refusals = names.filter((name) => name !== 'InternalServerError' && name !== 'DocumentRunError')

export const ErrorBody = z
  .object({
    name: z.enum(names),
    message: z.string(),
    errorCode: z
      .enum([...refusals, 'internal_server_error', ...RunErrorCode.options])
      .meta({ description: 'The name, the code of the run error, or `internal_server_error`.' }),
    reason: z.string().meta({
      description:
        'The cause. [docs/errors.md](docs/errors.md) lists all causes. For a failed run, `errorCode` says more.',
    }),
    details: z.looseObject({}).meta({ description: 'Data that the caller can act on. Empty for many causes.' }),
    error: z.object({ message: z.string() }).exactOptional().meta({
      description: 'Errors of attach only: the same message.',
    }),
  })
  .meta({
    id: 'ErrorBody',
    description:
      'The body of every error. `errorCode` repeats the name, except for run errors and `internal_server_error`. Names, codes and the keys of `details` are stable; messages may grow more precise.',
    example:
      "{ name: 'NotFoundError', message: 'Conversation not found', errorCode: 'NotFoundError', reason: 'unknown-conversation', details: {} }",
  })

export const ERROR_STATUSES = {
  400: 'The request is not valid, or the state of the resource does not allow it.',
  401: 'No key was sent, or the key is not valid.',
  403: 'The key lacks the scope, or is restricted to another project.',
  404: 'Unknown, or not visible to this key.',
  409: 'The state on the server differs from what the request assumes.',
  412: 'A precondition header is not met.',
  413: 'The body of the request, or of the response, exceeds its limit.',
  415: 'The body is not JSON.',
  422: 'The request is valid, but a prompt does not compile, a parameter does not fit, or the run failed.',
  429: 'The key exceeded its rate limit.',
  500: 'An unforeseen error. `details.requestId` identifies it in the log.',
  503: 'Temporarily unavailable. Nothing was done. Repeat after `Retry-After`.',
} as const
export type ErrorStatus = keyof typeof ERROR_STATUSES

/**
 * Adds the responses of all error statuses to a route. `contract.ts` removes the statuses that the route cannot return,
 * but only from the value. The type keeps all of them.
 *
 * @example
 * responses: withErrors({ 200: Version })
 */
export function withErrors<const R extends object>(successes: R): R & Record<ErrorStatus, typeof ErrorBody> {
  const statuses = Object.keys(ERROR_STATUSES).map(Number) as ErrorStatus[]
  const errors = Object.fromEntries(statuses.map((status) => [status, ErrorBody]))
  return { ...successes, ...errors } as R & Record<ErrorStatus, typeof ErrorBody>
}

function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[]
}
