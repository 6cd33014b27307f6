/** Why a message ended, as stet's finish reason. */
import type { FinishReason } from '../../../features/providers/model-driver.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
}

/**
 * @param hasCalls whether a tool of the prompt was called. The call that carries a structured answer does not count.
 */
export function finishReasonOf(reason: string, hasCalls: boolean): FinishReason {
  const known = Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'other') : reason === '' ? 'unknown' : 'other'
  return known === 'tool-calls' && !hasCalls ? 'stop' : known
}
