/** A model call, the same for every protocol: prepare, send with retries, read as a stream or whole. */
import type { ModelChunk, ModelDriver, ModelRequest, TakeChunks } from '../../features/providers/model-driver.ts'
import type { ChunkReader } from './answer/chunk-reader.ts'
import { streamChunks } from './answer/stream.ts'
import { headerText, type LeanResponse } from './transport/lean-transport.ts'
import type { ProviderLimits } from './transport/limits.ts'
import { withRetries } from './transport/retry.ts'

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
