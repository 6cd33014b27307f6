import type {
  CannedResult,
  Message,
  ProviderEvent,
  RunOverrides,
  RunState,
  TextResponse,
  ToolCall,
  Usage,
  LatitudeEvent as WireEvent,
  RunResponse as WireResponse,
  RunResult as WireResult,
} from '@stet/contract/vocabulary'
import type { ToolDefinition } from '@stet/template/config'
import type { RunError } from '../../shared/app-error.ts'
import type { PromptVersion } from '../documents/document.ts'
import type { TemplateSource } from '../templates/template-engine.ts'

/**
 *   queued ──▶ running ──▶ completed   (also with tool requests)
 *      │          ├──────▶ error       (`worker_lost` if the run's owner died)
 *      └──────────┴──────▶ stopped     (ended by `abort_error`)
 */
export type RunStatus = RunState

/** Tags with this prefix are set by feedback. */
export const feedbackPrefix = 'feedback:'

export interface RunSource {
  documentUuid: string
  versionUuid: string
}

/** Messages as ranges `[from, to)` of the conversation. A message outside the conversation is included in full. */
export type MessageSlice = readonly (readonly [from: number, to: number] | Message)[]

/**
 * A step's stored response. Its ranges refer to the conversation's messages. `object` is the parsed text of an `object`
 * response.
 */
export interface StepResponse
  extends Omit<TextResponse, 'streamType' | 'provider' | 'documentLogUuid' | 'input' | 'output'> {
  streamType: WireResponse['streamType']
  object?: unknown
  /** Any text, because a newer release may store other kinds. */
  provider: string
  input: MessageSlice
  output: MessageSlice
}

/**
 * A response and the start of its JSON (`head`), without messages and closing brace. `provider-completed` and
 * `chain-completed` share this text.
 */
export interface EncodedResponse {
  response: StepResponse
  head: string
}

export function resolveSlice(slice: MessageSlice, messages: readonly Message[]): Message[] {
  const resolved: Message[] = []
  for (const item of slice) {
    if ('role' in item) resolved.push(item)
    else resolved.push(...messages.slice(item[0], item[1]))
  }
  return resolved
}

export type RunResponse = Omit<StepResponse, 'input' | 'output'> & Pick<WireResponse, 'input' | 'output'>

export interface RunResult extends Omit<WireResult, 'response' | 'source'> {
  response: RunResponse
  source: RunSource
}

export type { ProviderEvent }

type AddedByEncoding = 'timestamp' | 'uuid' | 'messages' | 'providerLogUuid' | 'source'

/** The contract's event without the keys that encoding adds. `response` is already encoded. `error` is the failure. */
type Unencoded<Event extends WireEvent> = Event extends WireEvent
  ? {
      [Key in keyof Event as Exclude<Key, AddedByEncoding>]-?: Key extends 'response'
        ? EncodedResponse
        : Key extends 'error'
          ? Pick<RunError, 'code' | 'message' | 'details'>
          : Event[Key]
    }
  : never

/** A `latitude-event`. Its encoding includes all messages so far. Legacy clients do not get `tools-requested`. */
export type LatitudeEvent = Unencoded<WireEvent>

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers` is the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

export type ShowEvents = (events: readonly RunEvent[]) => void

export interface RunSpending {
  tokenUsage: Usage
  /** US dollars. */
  cost: number
  /** True if a model call has no known price. `cost` is then a lower bound. */
  costUnknown: boolean
}

/** The facts in a run's row, beside its messages. A run and its agents' runs share it. */
export interface RunFacts {
  /** All times are in milliseconds since the epoch. Null until it happened. */
  startedAt: number | null
  /** The first text or tool call of a streamed answer. */
  firstTokenAt: number | null
  /** The place of the caller's messages in the conversation. Null if there are none, or if they are not part of it. */
  given: { from: number; count: number } | null
  /** The number of model calls, those of agents included. */
  modelCalls: number
  lastCall: LastCall | null
  /** True if the tokens of a model call were estimated, because it did not end. */
  isUsageEstimated: boolean
  readonly spans: TimedSpan[]
  isCut: boolean
}

export interface LastCall {
  /** The name of the provider key. */
  provider: string
  model: string
  /** Null if the call did not end. */
  finishReason: string | null
}

type SpanKind = 'step' | 'model' | 'tool' | 'wait'
export type SpanStatus = 'ok' | 'error' | 'stopped'

export interface SpanEnd {
  status: SpanStatus
  firstTokenAt?: number | undefined
  usage?: Usage
  /** In US dollars. Undefined without a price. */
  cost?: number | undefined
}

export interface TimedSpan {
  kind: SpanKind
  name: string
  parent: number | null
  startedAt: number
  end?: SpanEnd & { at: number }
}

/** The columns of an ended run that the facts decide. */
export interface RunFigures {
  givenFrom: number | null
  givenCount: number | null
  provider: string | null
  model: string | null
  finishReason: string | null
  startedAt: Date | null
  firstTokenMs: number | null
  isUsageEstimated: boolean
  /** JSON. Null without spans. */
  spans: string | null
}

export interface ProjectDefaults {
  provider: string | null
  model: string | null
}

export interface ToolScope {
  workspaceId: number
  projectId: number
  versionUuid: string
  conversationUuid: string
  /** Null in an agent's run. An agent's tool calls are hidden, so no caller can answer them. */
  runUuid: string | null
  /** Names of the client tools whose calls wait for the caller's result. */
  awaited: readonly string[]
  /** The document paths from the started prompt to the current prompt. */
  lineage: readonly string[]
  /** Answers the calls of client tools. A call that it does not answer ends the run with a tool request. */
  canned?: CannedCalls | undefined
}

export interface CannedCalls {
  /** Returns false if no entry is for this call. */
  take(call: ToolCall): boolean
  /** The entry that the call took. */
  outcomeOf(callId: string): { result: unknown; isError: boolean }
}

/**
 * What a caller sets for one run beside the prompt. Later runs of the conversation do not have it. Only the door for
 * OpenAI's clients sets it.
 */
export interface CallerSettings {
  /** Keys of the front matter. They count where the prompt is silent. */
  config: Record<string, unknown>
  /** Which tool the first model call of the run must use, as in the front matter. */
  toolChoice?: unknown
  /** Tools whose calls end the run. A tool of the prompt with the same name is used instead. */
  tools: readonly ToolDefinition[]
}

export interface PromptSteps {
  workspaceId: number
  apiKeyId: number
  source: TemplateSource
  parameters: Record<string, unknown>
  usesSteps: boolean
  /** The configuration if rendering ends without a step. */
  config: Record<string, unknown>
  /** Settings that the caller gave in place of the front matter. */
  overrides?: RunOverrides | undefined
  /** The caller's messages, appended after the compiled prompt. */
  messages: Message[]
}

export interface PromptInput extends PromptSteps {
  version: PromptVersion
  /** `awaited` contains all tool names that the caller sent, in every mode. `planOf` clears the list in JSON mode. */
  tools: Omit<ToolScope, 'runUuid' | 'canned'>
  /** Results of client tools, by name. If present, no client tool call waits for the caller. Only experiments set it. */
  canned?: Readonly<Record<string, readonly CannedResult[]>> | undefined
  projectDefaults: ProjectDefaults
  /** True if the run shows no `tools-requested` event. Event ids have no gaps, so a reader alone cannot leave it out. */
  omitsToolsRequested?: boolean | undefined
  callerSettings?: CallerSettings | undefined
  /** Continues the trace of the request that queued the run. */
  traceparent?: string | undefined
}

/**
 * The input of a chat that waits in the queue. Its messages and its configuration are those of its conversation, so they
 * are not stored twice.
 */
export interface QueuedChat
  extends Pick<
    PromptInput,
    'apiKeyId' | 'version' | 'tools' | 'omitsToolsRequested' | 'callerSettings' | 'traceparent'
  > {
  /** The number of messages that the caller gave. They are the last ones of the conversation. */
  given: number
}

export type QueuedInput = PromptInput | QueuedChat
