import type { LatitudeEvent, ProviderEvent } from '@stet/contract/vocabulary'
import type { StetError } from '../errors.ts'
import type { OutputKind } from '../registry.ts'
import type { AnyRunResponse, Message, RunResult, ToolCall } from '../types.ts'

/** The failure that ended a run. */
interface ChainFailure {
  name: string
  message: string
  errorCode: string
  code: string
  details: Record<string, unknown>
}

/** Fields with wider types than on the wire, see `types.ts`. */
interface Wider {
  messages: Message[]
  providerLogUuid: string
  response: AnyRunResponse
  error: ChainFailure
}
type Widened<E> = E extends unknown ? { [K in keyof E]: K extends keyof Wider ? Wider[K] : E[K] } : never

/** Progress of the run itself. `chain-completed` and `chain-error` end it; exactly one of them arrives, last. */
export type LatitudeEventData = Widened<LatitudeEvent>

/** The output of the model, part by part. */
export type ProviderEventData = ProviderEvent

/** Events of the SDK itself; never on the wire, only through `on('sdk', …)`. */
export type SdkEventData =
  | { type: 'reconnecting'; attempt: number; delayMs: number; cause: string }
  | { type: 'reconnected'; fromEventId: string | undefined }
  | { type: 'tool-started'; call: ToolCall }
  | { type: 'tool-finished'; call: ToolCall; result: unknown; isError: boolean; durationMs: number }

type Wrap<E extends string, D> = D extends { type: infer T }
  ? { readonly id: string; readonly event: E; readonly type: T; readonly data: D }
  : never

/** One event of a run. Narrow it by `event` or `type`. Ids rise over the whole conversation. */
export type StreamEvent = Wrap<'latitude-event', LatitudeEventData> | Wrap<'provider-event', ProviderEventData>

/**
 * The listeners of a run. `text` gets each delta and the text of the current step so far.
 *
 * @example stream.on('text', (delta) => process.stdout.write(delta))
 */
export interface StreamEventMap<O extends OutputKind> {
  event: (e: StreamEvent) => void
  text: (delta: string, snapshot: string) => void
  reasoning: (delta: string) => void
  toolCall: (c: ToolCall) => void
  sdk: (e: SdkEventData) => void
  started: (conversationUuid: string) => void
  finished: (r: RunResult<O>) => void
  error: (e: StetError) => void
  end: () => void
}

/**
 * A part of a run that a page only sees if it is exposed: `messages` (with `input` and `output` of the answer),
 * `config` (with its model and provider), `ids` of prompt and version, arguments and results of `tools`, messages of
 * `errors`.
 */
export type Exposed = 'messages' | 'config' | 'ids' | 'tools' | 'errors'

/**
 * Data to forward in addition to the answer. Default: none. `true` forwards every event unchanged.
 *
 * @example { expose: ['tools'] }
 */
export interface ForwardOptions {
  expose?: true | readonly Exposed[]
}

/** A readable stream that `for await` reads in every runtime. */
export type AsyncIterableStream<T> = ReadableStream<T> & AsyncIterable<T>
