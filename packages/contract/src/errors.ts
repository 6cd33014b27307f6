import { z } from 'zod'
import type { Held } from './common.ts'
import { ERROR_CODES, RUN_ERROR_CODES } from './vocabulary/error-codes.ts'
import type * as vocabulary from './vocabulary/index.ts'

export const RunErrorCode = z.enum(RUN_ERROR_CODES)
export type RunErrorCode = Held<z.infer<typeof RunErrorCode>, vocabulary.RunErrorCode>

const refusals = ERROR_CODES.filter((code) => code !== 'InternalServerError')

export const ErrorBody = z
  .object({
    name: z.enum([...ERROR_CODES, 'DocumentRunError']),
    message: z.string(),
    errorCode: z
      .enum([...refusals, 'internal_server_error', ...RUN_ERROR_CODES])
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
      'The body of every error. Names, codes and the keys of `details` are stable; messages may grow more precise.',
  })
export type ErrorBody = Held<z.infer<typeof ErrorBody>, vocabulary.ErrorBody>

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
