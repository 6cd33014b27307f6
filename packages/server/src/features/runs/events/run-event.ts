/** The events of a run before they are numbered and encoded. */
import type { FinishReason, ToolSource } from '@stet/contract/vocabulary'
import type { GeneratedFile } from '../../providers/model-driver.ts'
import type { Usage } from '../../providers/usage.ts'
import type { ToolCall } from '../../templates/message.ts'
import type { StepResponse } from '../run.ts'

export type { ToolSource }

interface ToolReference {
  toolCallId: string
  toolName: string
  args: Record<string, unknown>
}

/** Events of a model call. */
export type ProviderEvent =
  | { type: 'start-step'; step: number }
  | { type: 'reasoning-delta'; id: string; text: string }
  | { type: 'text-delta'; id: string; textDelta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | ({ type: 'tool-call'; _sourceData: { source: ToolSource } } & ToolReference)
  | ({ type: 'tool-result'; result: unknown; isError: boolean } & ToolReference)
  | ({ type: 'tool-error'; error: string } & ToolReference)
  | { type: 'source'; [key: string]: unknown }
  | ({ type: 'file' } & GeneratedFile)
  | { type: 'finish-step'; finishReason: FinishReason; usage: Usage }
  | { type: 'finish'; finishReason: FinishReason; usage: Usage }
  | { type: 'error'; error: { message: string; status?: number } }

/** The failure of a run, as readers see it. */
export interface ChainError {
  name: 'DocumentRunError'
  message: string
  errorCode: string
  code: string
  details: Record<string, unknown>
}

/** Events of the run. Each carries the conversation up to that point. */
export type LatitudeEvent =
  | { type: 'chain-started' }
  | { type: 'step-started' }
  | { type: 'provider-started'; config: Record<string, unknown> }
  | { type: 'provider-completed'; response: StepResponse; tokenUsage: Usage; finishReason: FinishReason }
  | { type: 'step-completed' }
  /** Not shown to legacy clients. */
  | { type: 'tools-requested'; tools: ToolCall[] }
  | {
      type: 'chain-completed'
      response: StepResponse
      toolCalls: ToolCall[]
      finishReason: FinishReason
      tokenUsage: Usage
      cost: number
      toolRequests: ToolCall[]
    }
  | { type: 'chain-error'; error: ChainError; cost: number; tokenUsage: Usage }

export type RunEvent =
  | { provider: ProviderEvent }
  /** `covers`: the number of messages that the event shows. */
  | { latitude: LatitudeEvent; covers: number }

/** Records events in their order before it returns. */
export type ShowEvents = (events: readonly RunEvent[]) => void
