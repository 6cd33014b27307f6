/** An operator's price for a provider key, in US dollars per million tokens. The first matching rule applies. */
export interface PriceRule {
  /** `*` matches any characters. */
  model: string
  input: number
  output: number
  /** Price of cache reads. Default: the input price. */
  cachedInput?: number | undefined
  /** Price of cache writes. Default: the input price. */
  cacheWrite?: number | undefined
}

/** Returns why a value is not a price rule, or undefined if it is one. */
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

/** Finds the rule for a model in `configuration.prices`. Invalid rules are ignored. */
export function findPriceRule(prices: unknown, model: string): PriceRule | undefined {
  if (!Array.isArray(prices)) return undefined
  return prices.find((rule): rule is PriceRule => priceRuleProblem(rule) === undefined && fits(rule.model, model))
}

// Avoids a regular expression, because an operator's pattern could take exponential time.
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
