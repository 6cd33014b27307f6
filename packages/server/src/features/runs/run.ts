/** What a run is and what it ends with: states, response and result, independent of the wire. */
import type { FinishReason } from '../providers/model-driver.ts'
import type { Usage } from '../providers/usage.ts'
import type { Message, ToolCall } from '../templates/message.ts'

/**
 *   queued ──▶ running ──▶ completed   (also with tool requests)
 *      │          ├──────▶ error       (`worker_lost` when its owner died)
 *      └──────────┴──────▶ stopped     (ended by `abort_error`)
 */
export type RunStatus = 'queued' | 'running' | 'completed' | 'error' | 'stopped'

export interface RunSource {
  documentUuid: string
  versionUuid: string
}

/** Messages named by their places in the conversation (`[from, to)`); one that is not part of it stands there itself. */
export type MessageSlice = readonly (readonly [from: number, to: number] | Message)[]

/** What one model step came to, its messages named by place. */
export interface StepResponse {
  streamType: 'text' | 'object'
  text: string
  /** The parsed answer; meaningful when `streamType` is `object`. */
  object?: unknown
  toolCalls: ToolCall[]
  reasoning?: string
  usage: Usage
  cost: number
  model: string
  /** The kind on the wire. */
  provider: string
  finishReason: FinishReason
  input: MessageSlice
  output: MessageSlice
}

/** `StepResponse` with its messages in place, as callers get it. */
export interface RunResponse extends Omit<StepResponse, 'input' | 'output'> {
  documentLogUuid: string
  input: Message[]
  output: Message[]
}

/** What a completed run answers. */
export interface RunResult {
  /** The conversation. */
  uuid: string
  conversation: Message[]
  response: RunResponse
  toolRequests: ToolCall[]
  source: RunSource
  tokenUsage: Usage
  cost: number
}

/** What was spent so far, summed over the steps of a run. */
export interface RunSpending {
  tokenUsage: Usage
  /** US dollars. */
  cost: number
  /** Some model call had no known price: `cost` is a lower bound. */
  costUnknown: boolean
}
