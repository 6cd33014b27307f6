/** One model call, the same for every protocol: prepare, send with retries, read as a stream or whole. */
import type {
  ModelChunk,
  ModelDriver,
  ModelRequest,
  ProviderSettings,
  TakeChunks,
} from '../../features/providers/model-driver.ts'
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

export interface CallDeps {
  transport: LeanTransport
  /** Needed for `Retry-After` dates. */
  clock: Clock
  limits: ProviderLimits
}

/** One call, in the terms of a protocol. */
export interface PreparedCall {
  build(): Promise<Pick<LeanRequest, 'url' | 'headers' | 'body'>>
  reader(): ChunkReader
  /** Reads a plain response. @throws ProviderError */
  readPlain(body: string): ModelChunk[]
}

/** Runs before anything is sent. @throws ProviderError for input that the provider cannot accept. */
type PrepareCall = (request: ModelRequest) => PreparedCall

export function protocolDriver(deps: CallDeps, provider: ProviderSettings, prepare: PrepareCall): ModelDriver {
  return { call: (request, take) => callProvider(deps, provider, { request, prepare }, take) }
}

async function callProvider(
  deps: CallDeps,
  provider: ProviderSettings,
  { request, prepare }: { request: ModelRequest; prepare: PrepareCall },
  take: TakeChunks,
): Promise<void> {
  const { signal, maxRetries, stream } = request
  const { limits } = deps
  try {
    signal.throwIfAborted()
    const call = prepare(request)
    const response = await withRetries({ maxRetries, backoffMs: limits.backoffMs, signal }, () =>
      sendOnce(deps, provider, request, call),
    )
    // A service that does not support streaming answers every request with plain JSON.
    const isPlain = !stream || /^application\/json\b/i.test(headerText(response.headers, 'content-type') ?? '')
    if (isPlain) await take(call.readPlain(await response.text()))
    else await streamChunks(response.body, call.reader(), limits, take)
    // A stream that ended because of an abort must not look complete.
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/** @throws ProviderError, also for an error status. After an abort it rejects with the transport's own error. */
async function sendOnce(
  { transport, clock }: CallDeps,
  { token, trustedAddress: isTrusted }: ProviderSettings,
  { signal, stream }: ModelRequest,
  call: PreparedCall,
): Promise<LeanResponse> {
  const response = await transport.send({ ...(await call.build()), isStream: stream, isTrusted, signal })
  const { status, headers } = response
  if (status >= 200 && status < 300) return response
  // The status is enough. An unreadable or truncated error page must not hide it.
  const body = await response.text().catch(() => '')
  throw statusFailure({ status, headers, body }, { token, now: clock.now() })
}
