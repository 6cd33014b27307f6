/** Why a message ended, in stet's words. */
import type { FinishReason } from '../../../features/providers/model-driver.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
}

/** @param hasCalls whether a tool of the prompt is called: the call that brings a structured answer is none. */
export function finishReasonOf(reason: string, hasCalls: boolean): FinishReason {
  const known = Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'other') : reason === '' ? 'unknown' : 'other'
  return known === 'tool-calls' && !hasCalls ? 'stop' : known
}
