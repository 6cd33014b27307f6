/** Prices of model calls: the operator's own per provider key first, then the bundled table. No network. */
import { calcPrice, findProvider, type PriceOptions, type Provider } from '@pydantic/genai-prices'
import { LRUCache } from 'lru-cache'
import type { ProviderSettings } from '../../features/providers/model-driver.ts'
import type { ModelPrices, PriceBook, PricedCall } from '../../features/providers/ports.ts'
import { findPriceRule, type PriceRule } from '../../features/providers/price-rule.ts'

const unknown = { cost: 0, known: false }
const free: ModelPrices = { costOf: () => ({ cost: 0, known: true }) }

/** Names in the price table that differ from ours. */
const tableNames: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  amazon_bedrock: 'aws',
  google_vertex: 'google',
  anthropic_vertex: 'google',
}

/** The table's provider with the one requested model; null if the table does not have it. */
type TableEntry = Provider | null

/** No model in the table has a longer name. Matching a name of several megabytes would take most of a second. */
const maxNameLength = 500

export function priceBook(): PriceBook {
  return { pricesOf: (provider) => (provider.isDemo ? free : pricesOf(provider)) }
}

function pricesOf(provider: ProviderSettings): ModelPrices {
  // Finding a model compares its name with all models of the provider, which is most of the cost of a price.
  // Callers can choose model names, so the number of entries is limited.
  const entries = new LRUCache<string, { entry: TableEntry }>({ max: 50 })
  const entryOf = (model: string, at: Date): TableEntry => {
    const known = entries.get(model)
    if (known) return known.entry
    const entry = findEntry(provider, model, at)
    entries.set(model, { entry })
    return entry
  }
  const tableCost = (model: string, call: PricedCall): { cost: number; known: boolean } => {
    if (model.length > maxNameLength) return unknown
    try {
      const entry = entryOf(model, call.at)
      return entry ? entryCost(entry, tableModel(provider, model), call) : unknown
    } catch {
      // The table throws if it has no price for a kind of token. The price is then unknown; the run must not fail.
      return unknown
    }
  }
  return {
    costOf(call) {
      const rule = findPriceRule(provider.configuration['prices'], call.model)
      if (rule) return { cost: rounded(ruleCost(rule, call)), known: true }
      // A deployment may have the name of a different model than the one behind it.
      const served = call.servedModel === undefined ? unknown : tableCost(call.servedModel, call)
      return served.known ? served : tableCost(call.model, call)
    },
  }
}

function ruleCost(rule: PriceRule, call: PricedCall): number {
  const { cached, written, fresh, output } = countsOf(call)
  const input =
    fresh * rule.input + cached * (rule.cachedInput ?? rule.input) + written * (rule.cacheWrite ?? rule.input)
  return (input + output * rule.output) / 1_000_000
}

/** @throws for a kind of token without a price. */
function entryCost(provider: Provider, model: string, call: PricedCall): { cost: number; known: boolean } {
  const { cached, written, output } = countsOf(call)
  const usage = {
    input_tokens: call.usage.inputTokens,
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: written,
  }
  const price = calcPrice(usage, model, { provider, timestamp: call.at })
  return price && Number.isFinite(price.total_price) ? { cost: rounded(price.total_price), known: true } : unknown
}

function findEntry(provider: ProviderSettings, model: string, at: Date): TableEntry {
  const source = tableSource(provider)
  const found = source && calcPrice({}, tableModel(provider, model), { ...source, timestamp: at })
  return found ? { ...found.provider, models: [found.model] } : null
}

function tableSource({ kind, url }: ProviderSettings): PriceOptions | undefined {
  if (kind !== 'custom') return { providerId: tableNames[kind] ?? kind }
  if (url === null || !findProvider({ providerApiUrl: url })) return undefined
  return { providerApiUrl: url }
}

// Google's addresses also accept model names with a folder prefix.
function tableModel({ kind }: ProviderSettings, model: string): string {
  return kind.startsWith('google') ? model.replace(/^(models|google)\//, '') : model
}

// A provider that reports more cached tokens than input tokens must not produce a negative price.
function countsOf({ usage, cacheWriteTokens = 0 }: PricedCall) {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(Math.max(0, cacheWriteTokens), usage.inputTokens - cached)
  return { cached, written, fresh: usage.inputTokens - cached - written, output: usage.outputTokens }
}

function rounded(cost: number): number {
  return Number(cost.toFixed(12))
}
