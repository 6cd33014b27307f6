/** One attempt of a model call, the same for every protocol. Fails unless the status is a success. */
import type { ModelRequest } from '../../features/providers/model-driver.ts'
import type { Clock } from '../../shared/clock.ts'
import { statusFailure } from './answer/failure.ts'
import type { LeanRequest, LeanResponse, LeanTransport } from './transport/lean-transport.ts'

export interface CallDeps {
  transport: LeanTransport
  /** Needed for `Retry-After` dates. */
  clock: Clock
}

/** @throws ProviderError, also for an error status. After an abort it rejects with the transport's own error. */
export async function sendCall(
  { transport, clock }: CallDeps,
  { provider, signal, stream }: ModelRequest,
  sent: Pick<LeanRequest, 'url' | 'headers' | 'body'>,
): Promise<LeanResponse> {
  const { trustedAddress: isTrusted, token } = provider
  const response = await transport.send({ ...sent, isStream: stream, isTrusted, signal })
  const { status, headers } = response
  if (status >= 200 && status < 300) return response
  // The status is enough. An unreadable or truncated error page must not hide it.
  const body = await response.text().catch(() => '')
  throw statusFailure({ status, headers, body }, { token, now: clock.now() })
}
