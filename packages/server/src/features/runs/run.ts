/** A run's states, response and result, independent of the wire. */
import type {
  RunState,
  TextResponse,
  Usage,
  RunResponse as WireResponse,
  RunResult as WireResult,
} from '@stet/contract/vocabulary'
import type { Message } from '../templates/message.ts'
import type { SlotPlan, TemplateSource } from '../templates/template-engine.ts'

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

/** The response of one step as it is stored, with messages by place. `object` is the parsed text of an `object` response. */
export interface StepResponse
  extends Omit<TextResponse, 'streamType' | 'provider' | 'documentLogUuid' | 'input' | 'output'> {
  streamType: WireResponse['streamType']
  object?: unknown
  /** As stored: a newer release may have other kinds. */
  provider: string
  input: MessageSlice
  output: MessageSlice
}

/** A response with its JSON up to the messages, which is written once: two events show it. */
export interface EncodedResponse {
  response: StepResponse
  head: string
}

export function isRange(item: MessageSlice[number]): item is readonly [from: number, to: number] {
  return Array.isArray(item)
}

/** The messages that a slice names. */
export function resolveSlice(slice: MessageSlice, messages: readonly Message[]): Message[] {
  const resolved: Message[] = []
  for (const item of slice) {
    if (isRange(item)) resolved.push(...messages.slice(item[0], item[1]))
    else resolved.push(item)
  }
  return resolved
}

/** `StepResponse` with its messages, as callers get it. */
export type RunResponse = Omit<StepResponse, 'input' | 'output'> & Pick<WireResponse, 'input' | 'output'>

export interface RunResult extends Omit<WireResult, 'response' | 'source'> {
  response: RunResponse
  source: RunSource
}

/** Sums over the steps of a run so far. */
export interface RunSpending {
  tokenUsage: Usage
  /** US dollars. */
  cost: number
  /** The price of some model call is unknown, so `cost` is a lower bound. */
  costUnknown: boolean
}

/** Used where a prompt names no provider or model. */
export interface ProjectDefaults {
  provider: string | null
  model: string | null
}

export interface ToolScope {
  workspaceId: number
  projectId: number
  versionUuid: string
  conversationUuid: string
  /** Null in the run of an agent: its calls are not visible, so no caller can answer them. */
  runUuid: string | null
  /** Client tools whose calls wait for a result. */
  awaited: readonly string[]
  /** Paths from the document that was run to this one. */
  lineage: readonly string[]
}

/** The input of a prompt's steps. */
export interface PromptSteps {
  workspaceId: number
  /** Absent in runs that an older release has queued. */
  apiKeyId?: number | undefined
  source: TemplateSource
  /** Absent if a template worker must render the prompt. */
  slots?: SlotPlan | undefined
  parameters: Record<string, unknown>
  usesSteps: boolean
  /** The configuration if no step is rendered. */
  config: Record<string, unknown>
  /** The caller's, appended after the compiled prompt. */
  messages: Message[]
}

export interface PromptInput extends PromptSteps {
  /** `awaited` has the names that the caller sent, in every mode. */
  tools: Omit<ToolScope, 'runUuid'>
  projectDefaults: ProjectDefaults
  /** The caller is a legacy client. */
  declaredSdk: boolean
}
