/** Statuses and error texts of providers in the words of ProviderError, without secrets; the same for every protocol. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { retryAfterOf } from '../transport/retry.ts'
import { errorText, failureText, retryDelayIn } from './failure-text.ts'
import { scrubbed } from './scrub.ts'

/** What of a call a failure is made of: `token` is the entry's own, which some services repeat in their error texts. */
export interface FailureContext {
  token: string
  now: Date
}

/** A head with a status that is no success, and its body. */
export function statusFailure(
  { status, headers, body }: { status: number; headers: IncomingHttpHeaders; body: string },
  { token, now }: FailureContext,
): ProviderError {
  const retryAfterMs = retryAfterOf(headers, now) ?? retryDelayIn(body)
  return new ProviderError(kindOf(status), `The provider answered with status ${status}`, {
    status,
    providerMessage: scrubbed(failureText(body), token),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** An error that arrives in the middle of an answer. @param status what it means as a status, where that is known. */
export function brokenOff(status: number | undefined, error: unknown, token: string): ProviderError {
  const kind = status === undefined ? 'unavailable' : kindOf(status)
  return new ProviderError(kind, 'The provider broke its answer off with an error', {
    ...(status === undefined ? {} : { status }),
    providerMessage: scrubbed(errorText(error) ?? '', token),
  })
}

function kindOf(status: number): ProviderErrorKind {
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 500 ? 'unavailable' : 'rejected'
}
