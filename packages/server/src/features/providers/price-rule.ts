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
