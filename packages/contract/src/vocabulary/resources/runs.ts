import type { Message, MessageInput, ToolCall } from '../message.ts'
import type { RunState } from '../run-state.ts'
import type { FinishReason, Usage } from '../usage.ts'
import type { ProviderKind } from './provider-keys.ts'

interface StepResponse {
  text: string
  reasoning?: string
  usage: Usage
  /** US dollars, 0 when unknown. */
  cost: number
  model: string
  provider: ProviderKind
  finishReason: FinishReason
  /** The uuid of the conversation. */
  documentLogUuid: string
  /** The messages that the model received. */
  input: Message[]
  /** The generated messages, with tool calls and their results. */
  output: Message[]
  toolCalls: ToolCall[]
}

/** A response in text. */
export interface TextResponse extends StepResponse {
  streamType: 'text'
}

/** A response in JSON: `text` is its source, `object` its value, and `toolCalls` is empty. */
export interface ObjectResponse extends StepResponse {
  streamType: 'object'
  object: unknown
}

/**
 * The response of one step.
 *
 * @example const value = response.streamType === 'object' ? response.object : response.text
 */
export type RunResponse = TextResponse | ObjectResponse

/** The prompt and the version that a conversation ran on; `commitUuid` is the uuid of the version. */
export interface RunSource {
  documentUuid: string
  commitUuid: string
}

/**
 * The result of a run or a chat.
 *
 * @example console.log(result.response.text, result.cost)
 */
export interface RunResult {
  /** The conversation; read, continue or annotate it by this uuid. */
  uuid: string
  /** All messages: prompt, responses, tool calls and their results. */
  conversation: Message[]
  /** The response of the last step. */
  response: RunResponse
  /** The tool calls that wait for the caller; answer them with a chat. */
  toolRequests: ToolCall[]
  source: RunSource
  /** The sum of all steps. */
  tokenUsage: Usage
  /** The sum of all steps in US dollars. */
  cost: number
}

/** The response to a background run: its conversation. */
export interface BackgroundRun {
  uuid: string
}

interface StreamOptions {
  /** Respond with the events of the run as they happen. */
  stream?: boolean
  /** Names of the tools that the caller runs; the run waits for their results. */
  tools?: string[]
  /** Accepted, not used. */
  mcpHeaders?: Record<string, unknown>
}

/**
 * The request body for running a prompt.
 *
 * @example { path: 'support/reply', parameters: { name: 'Ada' }, stream: true }
 */
export interface RunDocumentBody extends StreamOptions {
  path: string
  /** Values of the parameters by name. */
  parameters?: Record<string, unknown>
  /** Respond at once; attach to the run for its result. */
  background?: boolean
  /** Appended after the compiled prompt. Not for prompts that use `<step>`. */
  messages?: MessageInput[]
  /** @deprecated Use `messages`. */
  userMessage?: string
  /** Stored with the conversation, to find it by. */
  customIdentifier?: string
}

/**
 * The body that continues a conversation.
 *
 * @example { messages: [{ role: 'user', content: 'And in French?' }] }
 */
export interface ChatBody extends StreamOptions {
  /** Appended to the conversation. */
  messages: MessageInput[]
}

/** The body that attaches to a run. */
export interface AttachBody {
  /** Respond with the events, those after `Last-Event-ID`. */
  stream?: boolean
}

/** @example { uuid: '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f', stopped: true, status: 'stopped' } */
export interface StopResult {
  uuid: string
  /** Whether this call stopped a run. */
  stopped: boolean
  status: RunState
}
