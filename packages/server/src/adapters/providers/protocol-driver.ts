/** One model call, the same for every protocol: prepare, send with retries, read as a stream or whole. */
import type { ModelChunk, ModelDriver, ModelRequest, TakeChunks } from '../../features/providers/model-driver.ts'
import type { Clock } from '../../shared/clock.ts'
import type { ChunkReader } from './answer/chunk-reader.ts'
import { statusFailure } from './answer/failure.ts'
import { streamChunks } from './answer/stream.ts'
import { withRetries } from './transport/retry.ts'
import {
  headerText,
  type LeanRequest,
  type LeanResponse,
  type LeanTransport,
  type ProviderLimits,
} from './transport/transport.ts'

/** One call, in the terms of a protocol. */
export interface PreparedCall {
  /** One attempt. Resolves with a successful response head. @throws ProviderError */
  send(): Promise<LeanResponse>
  reader(): ChunkReader
  /** Reads a plain response. @throws ProviderError */
  readPlain(body: string): ModelChunk[]
}

/** @param prepare runs before anything is sent, and throws ProviderError for input that the provider cannot accept. */
export function protocolDriver(limits: ProviderLimits, prepare: (request: ModelRequest) => PreparedCall): ModelDriver {
  return { call: (request) => (take) => callProtocol(limits, prepare, request, take) }
}

async function callProtocol(
  limits: ProviderLimits,
  prepare: (request: ModelRequest) => PreparedCall,
  request: ModelRequest,
  take: TakeChunks,
): Promise<void> {
  const { signal, maxRetries, stream } = request
  try {
    signal.throwIfAborted()
    const call = prepare(request)
    const response = await withRetries({ maxRetries, backoffMs: limits.backoffMs, signal }, () => call.send())
    // A service that does not support streaming answers every request with plain JSON.
    const isPlain = !stream || /^application\/json\b/i.test(headerText(response.headers, 'content-type') ?? '')
    if (isPlain) await take(call.readPlain(await response.text()))
    else await streamChunks(response.body, call.reader(), limits)(take)
    // A stream that ended because of an abort must not look complete.
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

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
