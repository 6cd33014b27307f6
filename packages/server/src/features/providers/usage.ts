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

/** A price rule of a provider key, in US dollars per million tokens. The first matching rule applies. */
export interface PriceRule {
  /** Name of the model. `*` matches any number of characters, including none. */
  model: string
  input: number
  output: number
  /** Price of cache reads. Default: the input price. */
  cachedInput?: number | undefined
  /** Price of cache writes. Default: the input price. */
  cacheWrite?: number | undefined
}

/** Returns the problem with an invalid price rule, or undefined for a valid price rule. */
export function priceRuleProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'must be an object'
  const rule = value as Record<string, unknown>
  if (typeof rule['model'] !== 'string' || rule['model'] === '') return 'must have a model'
  const { input, output, cachedInput = 0, cacheWrite = 0 } = rule
  for (const [key, price] of Object.entries({ input, output, cachedInput, cacheWrite })) {
    if (typeof price !== 'number' || !Number.isFinite(price) || price < 0) return `${key} must be a number from 0`
  }
  return undefined
}

/** Returns the first rule in `configuration.prices` that matches the model. Invalid rules are ignored. */
export function findPriceRule(prices: unknown, model: string): PriceRule | undefined {
  if (!Array.isArray(prices)) return undefined
  return prices.find((rule): rule is PriceRule => priceRuleProblem(rule) === undefined && fits(rule.model, model))
}

// Uses no regular expression, because a pattern with many `*` could take very long.
function fits(pattern: string, model: string): boolean {
  const pieces = pattern.split('*')
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return pattern === model
  if (model.length < first.length + last.length || !model.startsWith(first) || !model.endsWith(last)) return false
  let rest = model.slice(first.length, model.length - last.length)
  for (const piece of pieces.slice(1, -1)) {
    const at = rest.indexOf(piece)
    if (at < 0) return false
    rest = rest.slice(at + piece.length)
  }
  return true
}
