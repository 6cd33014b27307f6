import type { Usage } from '@stet/contract/vocabulary'

/** Token counts on the wire. The input includes cache reads and writes, and the output includes reasoning. */
export type { Usage } from '@stet/contract/vocabulary'

export type TokenCounts = Partial<Record<'input' | 'output' | 'reasoning' | 'cachedInput', number | undefined>>

export function usageOf(counts: TokenCounts): Usage {
  const input = wholeTokens(counts.input)
  const output = wholeTokens(counts.output)
  return {
    inputTokens: input,
    outputTokens: output,
    promptTokens: input,
    completionTokens: output,
    totalTokens: input + output,
    reasoningTokens: wholeTokens(counts.reasoning),
    cachedInputTokens: wholeTokens(counts.cachedInput),
  }
}

export function addUsage(left: Usage, right: Usage): Usage {
  return usageOf({
    input: left.inputTokens + right.inputTokens,
    output: left.outputTokens + right.outputTokens,
    reasoning: left.reasoningTokens + right.reasoningTokens,
    cachedInput: left.cachedInputTokens + right.cachedInputTokens,
  })
}

// Providers and proxies may send fractions and negative counts. Legacy clients accept only whole numbers.
function wholeTokens(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) && count > 0 ? Math.round(count) : 0
}
