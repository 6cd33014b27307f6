/** The events of a run before they are numbered and encoded. */
import type { FinishReason, ProviderEvent } from '@stet/contract/vocabulary'
import type { Usage } from '../../providers/usage.ts'
import type { ToolCall } from '../../templates/message.ts'
import type { StepResponse } from '../run.ts'

export type { ProviderEvent, ToolSource } from '@stet/contract/vocabulary'

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
