/** One attempt of a model call, the same for every protocol: the head must tell success. */
import type { ModelRequest } from '../../features/providers/model-driver.ts'
import type { Clock } from '../../shared/clock.ts'
import { statusFailure } from './answer/failure.ts'
import type { LeanRequest, LeanResponse, LeanTransport } from './transport/lean-transport.ts'

export interface CallDeps {
  transport: LeanTransport
  /** Tells how far away a `Retry-After` date is. */
  clock: Clock
}

/** @throws ProviderError, also for a head that tells a failure; what the request's signal aborts, as the transport has it. */
export async function sendCall(
  { transport, clock }: CallDeps,
  { provider, signal, stream }: ModelRequest,
  sent: Pick<LeanRequest, 'url' | 'headers' | 'body'>,
): Promise<LeanResponse> {
  const { trustedAddress: isTrusted, token } = provider
  const response = await transport.send({ ...sent, isStream: stream, isTrusted, signal })
  const { status, headers } = response
  if (status >= 200 && status < 300) return response
  // The status tells enough: a page in another encoding, or one that breaks off, must not stand for it.
  const body = await response.text().catch(() => '')
  throw statusFailure({ status, headers, body }, { token, now: clock.now() })
}
