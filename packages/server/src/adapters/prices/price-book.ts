/** Prices of model calls: the operator's own per entry first, else the bundled table; no network. */
import { calcPrice, findProvider, type PriceOptions } from '@pydantic/genai-prices'
import type { PriceBook, PriceQuestion } from '../../features/providers/ports.ts'
import { findPriceRule, type PriceRule } from '../../features/providers/price-rule.ts'

const unknown = { cost: 0, known: false }

/** Names of the table where they differ from ours. */
const tableNames: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  amazon_bedrock: 'aws',
  google_vertex: 'google',
  anthropic_vertex: 'google',
}

export function priceBook(): PriceBook {
  return {
    costOf(question) {
      if (question.provider.driver === 'demo') return { cost: 0, known: true }
      const rule = findPriceRule(question.provider.configuration['prices'], question.model)
      return rule ? { cost: rounded(ruleCost(rule, question)), known: true } : tableCost(question)
    },
  }
}

function ruleCost(rule: PriceRule, question: PriceQuestion): number {
  const { cached, written, fresh, output } = countsOf(question)
  const input =
    fresh * rule.input + cached * (rule.cachedInput ?? rule.input) + written * (rule.cacheWrite ?? rule.input)
  return (input + output * rule.output) / 1_000_000
}

function tableCost(question: PriceQuestion): { cost: number; known: boolean } {
  const source = tableSource(question)
  if (!source) return unknown
  const { cached, written, output } = countsOf(question)
  const usage = {
    input_tokens: question.usage.inputTokens,
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: written,
  }
  try {
    const price = calcPrice(usage, question.model, { ...source, timestamp: question.at })
    return price && Number.isFinite(price.total_price) ? { cost: rounded(price.total_price), known: true } : unknown
  } catch {
    // The table throws where it has no price for a kind of token: that is a price nobody knows, never a failed run.
    return unknown
  }
}

function tableSource({ provider }: PriceQuestion): PriceOptions | undefined {
  if (provider.kind !== 'custom') return { providerId: tableNames[provider.kind] ?? provider.kind }
  if (provider.url === null || !findProvider({ providerApiUrl: provider.url })) return undefined
  return { providerApiUrl: provider.url }
}

// A provider that reports more cached tokens than input tokens must not lead to a negative price.
function countsOf({ usage, cacheWriteTokens = 0 }: PriceQuestion) {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(Math.max(0, cacheWriteTokens), usage.inputTokens - cached)
  return { cached, written, fresh: usage.inputTokens - cached - written, output: usage.outputTokens }
}

function rounded(cost: number): number {
  return Number(cost.toFixed(12))
}
