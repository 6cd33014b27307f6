import { setTimeout as delay } from 'node:timers/promises'
import type { ModelChunk, ModelDriver, ModelRequest, ProviderSettings } from '../../features/providers/model-driver.ts'
import { ProviderError } from '../../features/providers/provider-error.ts'
import { usageOf } from '../../features/providers/usage.ts'
import type { Clock } from '../../shared/clock.ts'
import { scrubbed, statusFailure } from './answer/failure.ts'
import type { AnswerReader } from './answer/frames.ts'
import { readPlain, streamChunks } from './answer/stream.ts'
import {
  type BuiltRequest,
  type LeanResponse,
  type LeanTransport,
  type ProviderLimits,
  readWhole,
} from './transport/transport.ts'

export interface CallDeps {
  transport: LeanTransport
  /** Used to convert `Retry-After` dates to waits. */
  clock: Clock
  limits: ProviderLimits
}

export interface Protocol {
  /** Builds the request that every attempt sends. @throws ProviderError for input that the provider cannot accept. */
  build(request: ModelRequest): Promise<BuiltRequest>
  readerOf(request: ModelRequest): AnswerReader
  /** @returns true if the refused request may be built again without what the service refused. */
  isAdaptedTo?(failure: ProviderError): boolean
}

export function protocolDriver(deps: CallDeps, provider: ProviderSettings, protocol: Protocol): ModelDriver {
  const { limits } = deps
  return {
    async call(request, take) {
      const { signal } = request
      const chunks: ModelChunk[] = []
      let reader: AnswerReader | undefined
      try {
        signal.throwIfAborted()
        const { body } = await sendWithRetries(deps, provider, request, protocol)
        reader = protocol.readerOf(request)
        // Some services send a stream although they were asked for JSON.
        const plain = { start: /^[{[]/, hold: request.holdAnswer }
        const whole = request.stream ? undefined : await readWhole(body, limits.plainBytes, plain)
        if (whole === undefined) await streamChunks(body, reader, limits, take)
        else {
          readPlain(whole, reader, limits, chunks)
          await take(chunks.splice(0))
        }
        // A stream that ended because of an abort must not look complete.
        signal.throwIfAborted()
      } catch (error) {
        if (reader && (signal.aborted || error instanceof ProviderError)) {
          chunks.push({ type: 'usage', ...(reader.counted() ?? { usage: usageOf({}) }) })
        }
        if (chunks.length > 0) await take(chunks)
        if (signal.aborted) throw signal.reason
        if (error instanceof ProviderError) error.provider = provider.name
        throw error
      }
    },
    scrubbed: (text) => scrubbed(text, provider.token),
  }
}

/**
 * Retries only until a response with a success status starts. No other part of the server retries model calls.
 * @throws ProviderError of the last attempt, also for an error status. After an abort, the error can have any type.
 */
async function sendWithRetries(
  { transport, clock, limits }: CallDeps,
  { token, trustedAddress: isTrusted }: ProviderSettings,
  request: ModelRequest,
  protocol: Protocol,
): Promise<LeanResponse> {
  const { stream: isStream, maxRetries, signal, traceparent } = request
  let built = await protocol.build(request)
  let isAdapted = false
  for (let retries = 0; ; retries += 1) {
    try {
      const response = await transport.send({ ...built, isStream, isTrusted, signal, traceparent })
      if (response.statusCode >= 200 && response.statusCode < 300) return response
      // An unreadable error page counts as empty, because the status alone describes the failure.
      const text = await readWhole(response.body, limits.plainBytes).catch(() => undefined)
      throw statusFailure(response, text ?? '', token, clock.now())
    } catch (error) {
      if (!isAdapted && !signal.aborted && error instanceof ProviderError && protocol.isAdaptedTo?.(error)) {
        isAdapted = true
        built = await protocol.build(request)
        continue
      }
      const waitMs = retries < maxRetries ? waitBefore(error, retries, limits.backoffMs) : undefined
      if (waitMs === undefined || signal.aborted) throw error
      await delay(waitMs, undefined, { signal })
    }
  }
}

/** Returns the wait in milliseconds, or undefined if a retry is not allowed or the requested wait exceeds a minute. */
function waitBefore(error: unknown, retries: number, backoffMs: number): number | undefined {
  if (!(error instanceof ProviderError) || !isRepeatable(error)) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs !== undefined) return retryAfterMs <= 60_000 ? retryAfterMs : undefined
  // Shortens the wait by up to a quarter, so that clients that failed together do not retry together.
  return Math.min(backoffMs * 2 ** retries, 8_000) * (1 - Math.random() / 4)
}

function isRepeatable({ kind, status }: ProviderError): boolean {
  if (status === undefined) return kind === 'unavailable'
  return status === 408 || status === 409 || status === 429 || status >= 500
}
