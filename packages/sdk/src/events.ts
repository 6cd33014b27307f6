import type { LatitudeEvent, ProviderEvent, RunFailure } from '@stet/contract/vocabulary'
import type { StetError } from './errors.ts'
import type { OutputKind } from './registry.ts'
import type { Message, RunResponse, RunResult, ToolCall } from './types.ts'

/** A response whose kind is unknown at compile time. */
export type AnyRunResponse = RunResponse<'text'> | RunResponse<unknown>

type ChainFailure = { [K in keyof RunFailure]: RunFailure[K] extends string ? string : Record<string, unknown> }

/** These fields have wider types than on the wire (see `types.ts`). */
interface Wider {
  messages: Message[]
  providerLogUuid: string
  response: AnyRunResponse
  error: ChainFailure
}
type Widened<E> = E extends unknown ? { [K in keyof E]: K extends keyof Wider ? Wider[K] : E[K] } : never

/** Progress of the run itself. Every run ends with exactly one `chain-completed` or `chain-error`, its last event. */
export type LatitudeEventData = Widened<LatitudeEvent>

export type Completed = Extract<LatitudeEventData, { type: 'chain-completed' }>
export type Failed = Extract<LatitudeEventData, { type: 'chain-error' }>

/** The model's output, in parts. */
export type ProviderEventData = ProviderEvent

/** Events that the SDK emits itself, through `on('sdk', …)`. The server never sends them. */
export type SdkEventData =
  | { type: 'reconnecting'; attempt: number; delayMs: number; cause: string }
  | { type: 'reconnected'; fromEventId: string | undefined }
  | { type: 'tool-started'; call: ToolCall }
  | { type: 'tool-finished'; call: ToolCall; result: unknown; isError: boolean; durationMs: number }

type Wrap<E extends string, D> = D extends { type: infer T }
  ? { readonly id: string; readonly event: E; readonly type: T; readonly data: D }
  : never

/** One event of a run. Narrow the type by `event` or `type`. Ids increase across the whole conversation. */
export type StreamEvent = Wrap<'latitude-event', LatitudeEventData> | Wrap<'provider-event', ProviderEventData>

/**
 * The listeners of a run. `text` receives each delta and the current step's text so far.
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
 * A part of a run that a page receives only if you expose that part. `messages` includes the response's `input` and
 * `output`. `config` includes the model and the provider. `ids` are those of the prompt and the version. `tools` are
 * the arguments and results of tool calls. `errors` are the error messages.
 */
export type Exposed = 'messages' | 'config' | 'ids' | 'tools' | 'errors'

/**
 * Selects the parts of a run to forward in addition to the response. Default: none. `true` forwards every event
 * unchanged.
 *
 * @example { expose: ['tools'] }
 */
export interface ForwardOptions {
  expose?: true | readonly Exposed[]
}

/** A readable stream that `for await` can read in every runtime. */
export type AsyncIterableStream<T> = ReadableStream<T> & AsyncIterable<T>
