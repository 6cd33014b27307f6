import type { RunErrorCode } from './error-codes.ts'
import type { Message, ToolCall } from './message.ts'
import type { RunResponse, RunSource } from './resources/runs.ts'
import type { FinishReason, Usage } from './usage.ts'

/** Clients replace their state with each event, so every event has all of these keys. */
interface ChainEvent<Type extends string> {
  type: Type
  /** In epoch milliseconds. */
  timestamp: number
  /** The conversation's uuid. */
  uuid: string
  messages: Message[]
  providerLogUuid: ''
  source: RunSource
}

/**
 * The failure that ended a run. The body of a failed JSON run has the same keys, without `code`.
 * @example if (event.type === 'chain-error') console.error(event.error.errorCode, event.error.message)
 */
export interface RunFailure {
  name: 'DocumentRunError'
  message: string
  errorCode: RunErrorCode
  /** Same as `errorCode`. */
  code: RunErrorCode
  details: { errorCode: RunErrorCode; [key: string]: unknown }
}

/**
 * The data of a `latitude-event`, which reports progress. Every run ends with exactly one `chain-completed` or
 * `chain-error`.
 * @example if (event.type === 'chain-completed') console.log(event.response?.text)
 */
export type LatitudeEvent =
  | ChainEvent<'chain-started'>
  | ChainEvent<'step-started'>
  | ProviderStarted
  | ProviderCompleted
  | ChainEvent<'step-completed'>
  | ToolsRequested
  | ChainCompleted
  | ChainError

interface ProviderStarted extends ChainEvent<'provider-started'> {
  config: Record<string, unknown>
}

interface ProviderCompleted extends ChainEvent<'provider-completed'> {
  response: RunResponse
  tokenUsage: Usage
  finishReason: FinishReason
}

interface ToolsRequested extends ChainEvent<'tools-requested'> {
  tools: ToolCall[]
}

interface ChainCompleted extends ChainEvent<'chain-completed'> {
  /** The last step's response. */
  response?: RunResponse
  toolCalls: ToolCall[]
  /** Tool calls that wait for the caller's results. */
  toolRequests: ToolCall[]
  finishReason: FinishReason
  /** Total of all steps. */
  tokenUsage: Usage
  cost: number
}

interface ChainError extends ChainEvent<'chain-error'> {
  error: RunFailure
  /** Total of the steps so far. */
  tokenUsage: Usage
  cost: number
}

export const TOOL_SOURCES = ['client', 'agentAsTool', 'serverTool'] as const
export type ToolSource = (typeof TOOL_SOURCES)[number]

interface CalledTool {
  toolCallId: string
  toolName: string
  args: Record<string, unknown>
}

interface StepEnd {
  finishReason: FinishReason
  usage: Usage
}

/**
 * The data of a `provider-event`: one part of the model's output, without messages.
 * @example if (event.type === 'text-delta') process.stdout.write(event.textDelta)
 */
export type ProviderEvent =
  | { type: 'start-step'; step: number }
  | { type: 'reasoning-delta'; id: string; text: string }
  | { type: 'text-delta'; id: string; textDelta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | ({ type: 'tool-call'; _sourceData: { source: ToolSource } } & CalledTool)
  | ({ type: 'tool-result'; result: unknown; isError: boolean } & CalledTool)
  | ({ type: 'tool-error'; error: string } & CalledTool)
  | { type: 'source'; [key: string]: unknown }
  | {
      type: 'file'
      /** A URL or a data URL. */
      url: string
      mimeType: string
    }
  | ({ type: 'finish-step' } & StepEnd)
  | ({ type: 'finish' } & StepEnd)
  | { type: 'error'; error: { message: string; status?: number } }

/**
 * One SSE event: its name and its data.
 * @example const frame: RunEvent = { event: 'provider-event', data: { type: 'text-delta', id: 'txt-0', textDelta: 'Hel' } }
 */
export type RunEvent =
  | { event: 'latitude-event'; data: LatitudeEvent }
  | { event: 'provider-event'; data: ProviderEvent }
