/** Prices model calls by the provider key's own price rules, otherwise by the bundled table. Uses no network. */
import {
  calcPrice,
  findProvider,
  type ModelPrice,
  type PriceCalculationResult,
  type PriceOptions,
  type Provider,
} from '@pydantic/genai-prices'
import { similarNames } from '@stet/template/similar-names'
import { LRUCache } from 'lru-cache'
import type { ProviderSettings } from '../../features/providers/model-driver.ts'
import type { ModelPrices, PriceBook, PricedCall, PricedModel, PricedProvider } from '../../features/providers/ports.ts'
import { findPriceRule, type PriceRule, priceRuleProblem } from '../../features/providers/usage.ts'

type Cost = ReturnType<ModelPrices['costOf']>

const unknown = { cost: 0, known: false }
const free: ModelPrices = { costOf: () => ({ cost: 0, known: true }) }

const tableNames: Readonly<Record<string, string>> = {
  xai: 'x-ai',
  amazon_bedrock: 'aws',
  google_vertex: 'google',
  anthropic_vertex: 'google',
}

const decimals = 12
const maxName = 500

export function priceBook(): PriceBook {
  // A read of a prompt asks, and a lookup compares the name with all models.
  const checked = new LRUCache<string, { unknown: ReturnType<PriceBook['findUnknown']> }>({ max: 500 })
  return {
    pricesOf: (provider) => (provider.isDemo ? free : pricesOf(provider)),
    listModels,
    findUnknown(provider, model, at) {
      if (mayHaveAnyModel(provider, model)) return undefined
      const key = JSON.stringify([provider.kind, provider.url, model.slice(0, maxName)])
      const found = checked.get(key) ?? { unknown: findUnknown(provider, model, at) }
      checked.set(key, found)
      return found.unknown
    },
  }
}

function pricesOf(provider: ProviderSettings): ModelPrices {
  // Caches lookups, because each one compares a name with all models. Callers choose names, so the cache is limited.
  const found = new LRUCache<string, ModelPrices['costOf']>({ max: 50 })
  const tableCost = (model: string, call: PricedCall): Cost => {
    const costOf = found.get(model) ?? findInTable(provider, model, call.at)
    found.set(model, costOf)
    return costOf(call)
  }
  return {
    costOf(call) {
      const { model, servedModel } = call
      const { prices } = provider.configuration
      const rule = prices === undefined ? undefined : findPriceRule(prices, model)
      if (rule) return costByRule(rule, call)
      // Tries the served model first, because a deployment's name may match a different model.
      const served = servedModel === undefined ? unknown : tableCost(servedModel, call)
      return served.known ? served : tableCost(model, call)
    },
  }
}

function listModels(provider: PricedProvider, at: Date): PricedModel[] {
  const { isDemo, defaultModel, configuration } = provider
  const source = isDemo ? undefined : tableSource(provider)
  const table = source && findProvider(source)
  const models = new Map<string, PricedModel>()
  const add = (id: string, inputPrice: number | null, outputPrice: number | null, deprecated = false) => {
    const rule = findPriceRule(configuration['prices'], id)
    const prices = { inputPrice: rule?.input ?? inputPrice, outputPrice: rule?.output ?? outputPrice }
    models.set(id, { id, ...prices, ...(deprecated && { deprecated }) })
  }
  for (const model of table?.models ?? []) {
    const prices = table && askTable({}, model.id, { provider: { ...table, models: [model] }, timestamp: at })
    const [input, output] = [
      basePrice(prices?.model_price['input_mtok']),
      basePrice(prices?.model_price['output_mtok']),
    ]
    // Models without these two prices write no text, for example embeddings.
    if (input !== null && output !== null) add(model.id, input, output, model.deprecated)
  }
  for (const id of ruleModels(configuration['prices'])) if (!models.has(id)) add(id, null, null)
  if (defaultModel !== null && !models.has(defaultModel)) {
    const known = source && askTable({}, defaultModel, { ...source, timestamp: at })?.model_price
    const ofDemo = isDemo ? 0 : null
    add(defaultModel, basePrice(known?.['input_mtok']) ?? ofDemo, basePrice(known?.['output_mtok']) ?? ofDemo)
  }
  return [...models.values()].sort(byRelease)
}

/** The list has no dates, so the version in a name decides which model is newer. */
function byRelease(left: PricedModel, right: PricedModel): number {
  const order =
    Number(left.deprecated ?? false) - Number(right.deprecated ?? false) || versionOf(right) - versionOf(left)
  return order || (left.id < right.id ? -1 : 1)
}

/** For example 4.5 of `claude-sonnet-4-5` and of `gpt-4.5-preview`. Sizes such as `70b`, and dates, are no versions. */
function versionOf({ id }: PricedModel): number {
  const [, major = '0', minor = '0'] = /(?<!\d)(\d{1,2})(?:[.-](\d{1,2}))?(?![\dbkx])/.exec(id) ?? []
  return Number(major) + Number(minor) / 100
}

/** Deployments of Azure have names of their own, and so may the models of a proxy at another address. */
function mayHaveAnyModel(provider: PricedProvider, model: string): boolean {
  const { kind, url, isDemo, defaultModel, configuration } = provider
  if (isDemo || kind === 'azure' || (kind !== 'custom' && url !== null)) return true
  return model === defaultModel || findPriceRule(configuration['prices'], model) !== undefined
}

function findUnknown(provider: PricedProvider, model: string, at: Date): ReturnType<PriceBook['findUnknown']> {
  const source = tableSource(provider)
  if (!source || findEntry(provider, model, at)) return undefined
  const models = findProvider(source)?.models.filter(({ deprecated }) => !deprecated) ?? []
  const [near] = similarNames(
    model,
    models.map(({ id }) => id),
    { limit: 1, atLeast: 0.5 },
  )
  return { near }
}

/** The price of the first tokens, if the price depends on their number. */
function basePrice(price: ModelPrice[string]): number | null {
  return typeof price === 'number' ? price : (price?.base ?? null)
}

function ruleModels(prices: unknown): string[] {
  if (!Array.isArray(prices)) return []
  const names = prices.filter((rule) => priceRuleProblem(rule) === undefined).map(({ model }) => String(model))
  return names.filter((name) => !name.includes('*'))
}

function costByRule(rule: PriceRule, call: PricedCall): Cost {
  const { cached, written, fresh, output } = countsOf(call)
  const input =
    fresh * rule.input + cached * (rule.cachedInput ?? rule.input) + written * (rule.cacheWrite ?? rule.input)
  return { cost: Number(((input + output * rule.output) / 1_000_000).toFixed(decimals)), known: true }
}

/** @param entry the table's provider, with this model as its only model. */
function entryCost(entry: Provider, model: string, call: PricedCall): Cost {
  const { cached, written, output } = countsOf(call)
  const input_tokens = call.usage.inputTokens
  const usage = { input_tokens, output_tokens: output, cache_read_tokens: cached, cache_write_tokens: written }
  const cost = askTable(usage, model, { provider: entry, timestamp: call.at })?.total_price
  return cost !== undefined && Number.isFinite(cost) ? { cost: Number(cost.toFixed(decimals)), known: true } : unknown
}

function findInTable(provider: ProviderSettings, named: string, at: Date): ModelPrices['costOf'] {
  const found = findEntry(provider, named, at)
  return found ? (call) => entryCost(found.entry, found.model, call) : () => unknown
}

/** The table's provider with the only model that fits the name, and the name as the table writes it. */
function findEntry(provider: PricedProvider, named: string, at: Date) {
  // Longer names have no table price. Matching a name of several megabytes would take almost a second.
  const source = named.length > maxName ? undefined : tableSource(provider)
  // Google's endpoints also accept names with the prefix `models/` or `google/`.
  const model = provider.kind.startsWith('google') ? named.replace(/^(models|google)\//, '') : named
  const found = source && askTable({}, model, { ...source, timestamp: at })
  return found ? { entry: { ...found.provider, models: [found.model] }, model } : undefined
}

function askTable(...question: Parameters<typeof calcPrice>): PriceCalculationResult {
  try {
    return calcPrice(...question)
  } catch {
    // `calcPrice` throws for usage that it cannot price. The run must not fail for this reason.
    return null
  }
}

function tableSource({ kind, url }: PricedProvider): PriceOptions | undefined {
  if (kind !== 'custom') return { providerId: tableNames[kind] ?? kind }
  return url !== null && findProvider({ providerApiUrl: url }) ? { providerApiUrl: url } : undefined
}

// Limits cached and written tokens to the input tokens, because providers may report more. Prevents a negative price.
function countsOf({ usage, cacheWriteTokens = 0 }: PricedCall) {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(Math.max(0, cacheWriteTokens), usage.inputTokens - cached)
  return { cached, written, fresh: usage.inputTokens - cached - written, output: usage.outputTokens }
}
