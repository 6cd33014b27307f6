/** Prices of model calls: the operator's own per provider key first, then the bundled table. No network. */
import { calcPrice, findProvider, type PriceOptions, type Provider } from '@pydantic/genai-prices'
import type { PriceBook, PriceQuestion } from '../../features/providers/ports.ts'
import { findPriceRule, type PriceRule } from '../../features/providers/price-rule.ts'

const unknown = { cost: 0, known: false }

/** Names in the price table that differ from ours. */
const tableNames: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  amazon_bedrock: 'aws',
  google_vertex: 'google',
  anthropic_vertex: 'google',
}

/** The table's provider with the one requested model; null if the table does not have it. */
type TableEntry = Provider | null

/** Model names may come from callers, so the number of cached ones is limited. */
const maxEntries = 200

/** No model in the table has a longer name. Matching a name of several megabytes would take most of a second. */
const maxNameLength = 500

export function priceBook(): PriceBook {
  // Finding a model compares its name with all models of the provider, which is most of the cost of a price.
  const entries = new Map<string, TableEntry>()
  const entryOf = (question: PriceQuestion): TableEntry => {
    const key = `${question.provider.kind}\n${question.provider.url}\n${question.model}`
    const known = entries.get(key)
    if (known !== undefined) return known
    const found = findEntry(question)
    if (entries.size >= maxEntries) entries.clear()
    entries.set(key, found)
    return found
  }
  const tableCost = (question: PriceQuestion): { cost: number; known: boolean } => {
    if (question.model.length > maxNameLength) return unknown
    try {
      const provider = entryOf(question)
      return provider ? entryCost(provider, question) : unknown
    } catch {
      // The table throws if it has no price for a kind of token. The price is then unknown; the run must not fail.
      return unknown
    }
  }
  return {
    costOf(question) {
      if (question.provider.driver === 'demo') return { cost: 0, known: true }
      const rule = findPriceRule(question.provider.configuration['prices'], question.model)
      if (rule) return { cost: rounded(ruleCost(rule, question)), known: true }
      // A deployment may have the name of a different model than the one behind it.
      const served =
        question.servedModel === undefined ? unknown : tableCost({ ...question, model: question.servedModel })
      return served.known ? served : tableCost(question)
    },
  }
}

function ruleCost(rule: PriceRule, question: PriceQuestion): number {
  const { cached, written, fresh, output } = countsOf(question)
  const input =
    fresh * rule.input + cached * (rule.cachedInput ?? rule.input) + written * (rule.cacheWrite ?? rule.input)
  return (input + output * rule.output) / 1_000_000
}

/** @throws for a kind of token without a price. */
function entryCost(provider: Provider, question: PriceQuestion): { cost: number; known: boolean } {
  const { cached, written, output } = countsOf(question)
  const usage = {
    input_tokens: question.usage.inputTokens,
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: written,
  }
  const price = calcPrice(usage, tableModel(question), { provider, timestamp: question.at })
  return price && Number.isFinite(price.total_price) ? { cost: rounded(price.total_price), known: true } : unknown
}

function findEntry(question: PriceQuestion): TableEntry {
  const source = tableSource(question)
  const found = source && calcPrice({}, tableModel(question), { ...source, timestamp: question.at })
  return found ? { ...found.provider, models: [found.model] } : null
}

function tableSource({ provider }: PriceQuestion): PriceOptions | undefined {
  if (provider.kind !== 'custom') return { providerId: tableNames[provider.kind] ?? provider.kind }
  if (provider.url === null || !findProvider({ providerApiUrl: provider.url })) return undefined
  return { providerApiUrl: provider.url }
}

// Google's addresses also accept model names with a folder prefix.
function tableModel({ provider, model }: PriceQuestion): string {
  return provider.kind.startsWith('google') ? model.replace(/^(models|google)\//, '') : model
}

// A provider that reports more cached tokens than input tokens must not produce a negative price.
function countsOf({ usage, cacheWriteTokens = 0 }: PriceQuestion) {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(Math.max(0, cacheWriteTokens), usage.inputTokens - cached)
  return { cached, written, fresh: usage.inputTokens - cached - written, output: usage.outputTokens }
}

function rounded(cost: number): number {
  return Number(cost.toFixed(12))
}
