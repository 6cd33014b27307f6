import { ApiPromise, RunError, StetError } from '../index.ts'

/** The status of a failed run in the published clients. */
const FAILED_RUN_STATUS = 402

interface Callbacks {
  onError?: ((error: never) => void) | undefined
}

/**
 * The result of a call. With `onError`, a failure is passed to it once and the call resolves to `undefined`; without
 * it, the call rejects. Other failures, such as an exception of a callback, always reject.
 */
export function settled<T>(
  call: ApiPromise<T>,
  { onError }: Callbacks,
  isStreamed: boolean,
): ApiPromise<T | undefined> {
  const outcome = call.withResponse().catch((reason: unknown) => {
    const error = withOldStatus(reason)
    if (!onError || !StetError.isInstance(error))
      throw error
      // Callers of the legacy clients expect an API error here.
    ;(onError as (error: StetError) => void)(error)
    return { data: undefined, response: Response.error() }
  })
  return new ApiPromise(outcome, isStreamed)
}

/** Gives a failed run the status that code for the legacy clients expects. */
export function withOldStatus<E>(reason: E): E {
  return reason instanceof RunError ? Object.assign(reason, { status: FAILED_RUN_STATUS }) : reason
}
