/**
 * Token counts of one step or of a whole run. `promptTokens` equals `inputTokens`, and `completionTokens` equals
 * `outputTokens`.
 * @example console.log(`${result.tokenUsage.inputTokens} in, ${result.tokenUsage.outputTokens} out`)
 */
export interface Usage {
  inputTokens: number
  outputTokens: number
  promptTokens: number
  completionTokens: number
  totalTokens: number
  reasoningTokens: number
  cachedInputTokens: number
}

export const FINISH_REASONS = ['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other', 'unknown'] as const
export type FinishReason = (typeof FINISH_REASONS)[number]
