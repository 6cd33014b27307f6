import type { Message, MessageInput, ToolCall } from '../message.ts'
import type { RunState } from '../run-state.ts'
import type { FinishReason, Usage } from '../usage.ts'
import type { ProviderKind } from './provider-keys.ts'

interface StepResponse {
  text: string
  reasoning?: string
  usage: Usage
  /** In US dollars. 0 if unknown. */
  cost: number
  model: string
  provider: ProviderKind
  finishReason: FinishReason
  /** The conversation's uuid. */
  documentLogUuid: string
  input: Message[]
  /** The messages that the model generated, with tool calls and their results. */
  output: Message[]
  toolCalls: ToolCall[]
}

export interface TextResponse extends StepResponse {
  streamType: 'text'
}

/** A JSON response. `object` is the JSON value in `text`, which may include a code fence. `toolCalls` is empty. */
export interface ObjectResponse extends StepResponse {
  streamType: 'object'
  object: unknown
}

/** @example const value = response.streamType === 'object' ? response.object : response.text */
export type RunResponse = TextResponse | ObjectResponse

/** The prompt and the version that a conversation ran on. `commitUuid` is the version's uuid. */
export interface RunSource {
  documentUuid: string
  commitUuid: string
}

/** @example console.log(result.response.text, result.cost) */
export interface RunResult {
  /** Use this uuid to read, continue or annotate the conversation. */
  uuid: string
  /** All messages: prompt, responses, tool calls and their results. */
  conversation: Message[]
  /** The last step's response. */
  response: RunResponse
  /** Tool calls that wait for the caller's results. Send the results with a chat. */
  toolRequests: ToolCall[]
  source: RunSource
  /** Total of all steps. */
  tokenUsage: Usage
  /** Total of all steps in US dollars. */
  cost: number
}

export interface BackgroundRun {
  uuid: string
}

interface StreamOptions {
  /** If true, the response streams the run's events. */
  stream?: boolean
  /** Tools that the caller executes. The run waits for their results. */
  tools?: string[]
  /** Accepted but ignored. */
  mcpHeaders?: Record<string, unknown>
}

/** @example { path: 'support/reply', parameters: { name: 'Ada' }, stream: true } */
export interface RunDocumentBody extends StreamOptions {
  path: string
  parameters?: Record<string, unknown>
  /** If true, the server responds immediately. Attach to the run to get its result. */
  background?: boolean
  /** Appended after the compiled prompt. Not allowed for prompts that use `<step>`. */
  messages?: MessageInput[]
  /** @deprecated Use `messages`. */
  userMessage?: string
  customIdentifier?: string
}

/** @example { messages: [{ role: 'user', content: 'And in French?' }] } */
export interface ChatBody extends StreamOptions {
  messages: MessageInput[]
}

export interface AttachBody {
  /** If true, the response streams the events after `Last-Event-ID`, or all events without this header. */
  stream?: boolean
}

/** @example { uuid: '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f', stopped: true, status: 'stopped' } */
export interface StopResult {
  uuid: string
  stopped: boolean
  status: RunState
}
