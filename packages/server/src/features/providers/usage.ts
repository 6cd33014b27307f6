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

const charactersPerToken = 4

/**
 * Returns the usage of a call that did not end. The service may have counted its input, but has counted little or none of
 * the output that it had sent. A count of less than half of an estimate is taken for the count at the start of the answer.
 */
export function usageOfPart(
  counted: Usage,
  characters: { input: number; output: number },
): { usage: Usage; isEstimated: boolean } {
  const input = Math.ceil(characters.input / charactersPerToken)
  const output = Math.ceil(characters.output / charactersPerToken)
  const isInputCounted = counted.inputTokens > 0
  const isOutputCounted = counted.outputTokens * 2 >= output
  const usage = usageOf({
    input: isInputCounted ? counted.inputTokens : input,
    output: isOutputCounted ? counted.outputTokens : output,
    reasoning: counted.reasoningTokens,
    cachedInput: counted.cachedInputTokens,
  })
  return { usage, isEstimated: !(isInputCounted && isOutputCounted) }
}

// Providers and proxies may send fractions and negative counts. Legacy clients accept only whole numbers.
function wholeTokens(count: number | undefined): number {
  return count !== undefined && Number.isFinite(count) && count > 0 ? Math.round(count) : 0
}
