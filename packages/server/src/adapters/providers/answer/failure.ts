/** Converts statuses and error texts of providers to ProviderError, without secrets; the same for every protocol. */
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderError, type ProviderErrorKind } from '../../../features/providers/provider-error.ts'
import { retryAfterOf } from '../transport/retry.ts'
import { errorText, failureText, retryDelayIn } from './failure-text.ts'
import { scrubbed } from './scrub.ts'

/** `token` is the provider key's own, which some services repeat in their error texts. */
export interface FailureContext {
  token: string
  now: Date
}

/** A response with an error status, and its body. */
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

/** An error in the middle of a response. @param status the equivalent status, if known. */
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
