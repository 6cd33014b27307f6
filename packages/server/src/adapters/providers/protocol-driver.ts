/** The course of a model call, the same for every protocol: prepare, send with retries, read as a stream or whole. */
import type { ModelChunk, ModelDriver, ModelRequest, TakeChunks } from '../../features/providers/model-driver.ts'
import type { ChunkReader } from './answer/chunk-reader.ts'
import { streamChunks } from './answer/stream.ts'
import { headerText, type LeanResponse } from './transport/lean-transport.ts'
import type { ProviderLimits } from './transport/limits.ts'
import { withRetries } from './transport/retry.ts'

/** One call in the terms of a protocol. */
export interface PreparedCall {
  /** One attempt; resolves with a head that tells success. @throws ProviderError */
  send(): Promise<LeanResponse>
  reader(): ChunkReader
  /** A whole answer. @throws ProviderError */
  readPlain(body: string): ModelChunk[]
}

/** @param prepare runs before anything is sent: what the provider cannot carry fails there, by a ProviderError. */
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
    // A service that does not stream answers plainly to everything.
    const isPlain = !stream || /^application\/json\b/i.test(headerText(response.headers, 'content-type') ?? '')
    if (isPlain) await take(call.readPlain(await response.text()))
    else await streamChunks(response.body, call.reader(), limits)(take)
    // A stream that ends because of an abort must not look like an answer.
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}
