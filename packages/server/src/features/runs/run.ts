/** A run's states, response and result, independent of the wire. */
import type { FinishReason, RunState } from '@stet/contract/vocabulary'
import type { Usage } from '../providers/usage.ts'
import type { Message, ToolCall } from '../templates/message.ts'

/**
 *   queued ──▶ running ──▶ completed   (also with tool requests)
 *      │          ├──────▶ error       (`worker_lost` when its owner died)
 *      └──────────┴──────▶ stopped     (ended by `abort_error`)
 */
export type RunStatus = RunState

export interface RunSource {
  documentUuid: string
  versionUuid: string
}

/** Messages by their places in the conversation (`[from, to)`). A message that is not part of it is included itself. */
export type MessageSlice = readonly (readonly [from: number, to: number] | Message)[]

/** The outcome of one step, with messages by place. */
export interface StepResponse {
  streamType: 'text' | 'object'
  text: string
  /** The parsed answer, if `streamType` is `object`. */
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

/** `StepResponse` with its messages, as callers get it. */
export interface RunResponse extends Omit<StepResponse, 'input' | 'output'> {
  documentLogUuid: string
  input: Message[]
  output: Message[]
}

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

/** Sums over the steps of a run so far. */
export interface RunSpending {
  tokenUsage: Usage
  /** US dollars. */
  cost: number
  /** The price of some model call is unknown, so `cost` is a lower bound. */
  costUnknown: boolean
}
