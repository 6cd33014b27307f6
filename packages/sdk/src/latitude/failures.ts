import { ApiPromise, RunError, StetError } from '../index.ts'

/** The published clients report this status for failed runs. */
const FAILED_RUN_STATUS = 402

interface Callbacks {
  onError?: ((error: never) => void) | undefined
}

/**
 * Applies `onError`. If the call fails with a StetError, `onError` receives the error once, and the call resolves to
 * `undefined`. Without `onError`, the call rejects. Other errors, such as an exception from a callback, always reject.
 */
export function settled<T>(
  call: ApiPromise<T>,
  { onError }: Callbacks,
  isStreamed: boolean,
): ApiPromise<T | undefined> {
  const outcome = call.withResponse().catch((reason: unknown) => {
    const error = withOldStatus(reason)
    // The legacy types declare the argument of `onError` as an ApiError, hence the cast.
    if (!onError || !StetError.isInstance(error)) throw error
    ;(onError as (error: StetError) => void)(error)
    return { data: undefined, response: Response.error() }
  })
  return new ApiPromise(outcome, isStreamed)
}

export function withOldStatus<E>(reason: E): E {
  return reason instanceof RunError ? Object.assign(reason, { status: FAILED_RUN_STATUS }) : reason
}
