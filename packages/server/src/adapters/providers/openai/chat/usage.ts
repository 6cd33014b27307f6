/** Converts the usage object of chat completions. */
import { asNumber, asObject } from '../../answer/json.ts'
import { type CountedUsage, countedUsage } from '../../answer/usage.ts'
import type { KindTraits } from '../kinds.ts'

export function chatUsage(value: unknown, { countsThoughtsInTotal }: KindTraits): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['prompt_tokens_details'])
  const count = (...names: string[]) => names.map((name) => asNumber(usage[name])).find((one) => one !== undefined)
  const input = count('prompt_tokens') ?? 0
  const output = count('completion_tokens') ?? 0
  // The part of the total beyond input and output. Some services report reasoning only there.
  const beside = Math.max(0, (count('total_tokens') ?? 0) - input - output)
  const told = asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ?? count('reasoning_tokens')
  const reasoning = told ?? (countsThoughtsInTotal ? beside : 0)
  // xAI and Perplexity count reasoning outside the completion: it is part of the total, or exceeds the completion.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  return countedUsage({
    input,
    output: isBeside ? output + reasoning : output,
    reasoning,
    cachedInput:
      asNumber(details['cached_tokens']) ?? count('prompt_cache_hit_tokens', 'num_cached_tokens', 'cached_tokens') ?? 0,
    cacheWrite: asNumber(details['cache_write_tokens']) ?? 0,
  })
}
