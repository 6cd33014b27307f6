import type { StetError } from '../errors.ts'
import type { OutputKind } from '../registry.ts'
import type { AnyRunResponse, FinishReason, Message, RunResult, ToolCall, Usage } from '../types.ts'

interface Chain<T extends string> {
  type: T
  /** The conversation. */
  uuid: string
  /** The whole conversation so far. */
  messages: Message[]
  /** Epoch milliseconds. */
  timestamp: number
  providerLogUuid: string
  source: { documentUuid: string; commitUuid: string }
}

/** The failure that ends a run. */
interface ChainFailure {
  name: string
  message: string
  errorCode: string
  code: string
  details: Record<string, unknown>
}

/** Progress of the run itself. `chain-completed` and `chain-error` end it; exactly one of them arrives, last. */
export type LatitudeEventData =
  | Chain<'chain-started'>
  | Chain<'step-started'>
  | Chain<'step-completed'>
  | (Chain<'provider-started'> & { config: Record<string, unknown> })
  | (Chain<'provider-completed'> & { response: AnyRunResponse; tokenUsage: Usage; finishReason: FinishReason })
  | (Chain<'tools-requested'> & { tools: ToolCall[] })
  | (Chain<'chain-completed'> & {
      response?: AnyRunResponse
      toolCalls: ToolCall[]
      toolRequests: ToolCall[]
      tokenUsage: Usage
      finishReason: FinishReason
      cost: number
    })
  | (Chain<'chain-error'> & { error: ChainFailure; tokenUsage: Usage; cost: number })

/** What the model does, part by part. */
export type ProviderEventData =
  | { type: 'start-step'; step: number }
  | { type: 'text-delta'; id: string; textDelta: string }
  | { type: 'reasoning-delta'; id: string; text: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | {
      type: 'tool-call'
      toolCallId: string
      toolName: string
      args: Record<string, unknown>
      _sourceData: { source: 'client' | 'agentAsTool' | 'serverTool' }
    }
  | {
      type: 'tool-result'
      toolCallId: string
      toolName: string
      args: Record<string, unknown>
      result: unknown
      isError: boolean
    }
  | { type: 'tool-error'; toolCallId: string; toolName: string; args: Record<string, unknown>; error: string }
  | { type: 'source'; [extra: string]: unknown }
  | { type: 'file'; url: string; mimeType: string }
  | { type: 'finish-step'; finishReason: FinishReason; usage: Usage }
  | { type: 'finish'; finishReason: FinishReason; usage: Usage }
  | { type: 'error'; error: { message: string; status?: number } }

/** What the client itself does for a run; never on the wire, only through `on('sdk', …)`. */
export type SdkEventData =
  | { type: 'reconnecting'; attempt: number; delayMs: number; cause: string }
  | { type: 'reconnected'; fromEventId: string | undefined }
  | { type: 'tool-started'; call: ToolCall }
  | { type: 'tool-finished'; call: ToolCall; result: unknown; isError: boolean; durationMs: number }

type Wrap<E extends string, D> = D extends { type: infer T }
  ? { readonly id: string; readonly event: E; readonly type: T; readonly data: D }
  : never

/** One event of a run. Narrow by `event` or `type`; ids rise over the whole conversation. */
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
 * A part of a run that a page does not see unless it is exposed: `messages` (with `input` and `output` of the answer),
 * `config` (with its model and provider), `ids` of prompt and version, arguments and results of `tools`, messages of `errors`.
 */
export type Exposed = 'messages' | 'config' | 'ids' | 'tools' | 'errors'

/**
 * What to forward besides the answer; nothing by default. `true` forwards every event unchanged.
 *
 * @example { expose: ['tools'] }
 */
export interface ForwardOptions {
  expose?: true | readonly Exposed[]
}

/** A readable stream that `for await` reads in every runtime. */
export type AsyncIterableStream<T> = ReadableStream<T> & AsyncIterable<T>
