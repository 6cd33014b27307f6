import type { CountedUsage } from '../../../../features/providers/model-driver.ts'
import { countedUsage } from '../../answer/content.ts'
import { asCount, asObject, type Json } from '../../json.ts'
import type { KindTraits } from '../kinds.ts'

/** @param usage the merged counts of all frames. */
export function chatUsage(usage: Json, { countsThoughtsInTotal }: KindTraits, servedModel: string): CountedUsage {
  const details = asObject(usage['prompt_tokens_details'])
  const input = asCount(usage['prompt_tokens']) ?? asCount(usage['input_tokens']) ?? 0
  const output = asCount(usage['completion_tokens']) ?? asCount(usage['output_tokens']) ?? 0
  // The tokens of the total that are neither input nor output. Some services report reasoning only in the total.
  const beside = Math.max(0, (asCount(usage['total_tokens']) ?? 0) - input - output)
  const reasoning =
    asCount(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ??
    asCount(usage['reasoning_tokens']) ??
    (countsThoughtsInTotal ? beside : 0)
  const cachedInput =
    asCount(details['cached_tokens']) ??
    asCount(usage['prompt_cache_hit_tokens']) ??
    asCount(usage['num_cached_tokens']) ??
    asCount(usage['cached_tokens'])
  // xAI and Perplexity exclude reasoning from the completion tokens. Then only the total includes the reasoning, or the
  // reasoning exceeds the completion tokens.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  const cacheWrite = asCount(details['cache_write_tokens'])
  const counts = { input, output: isBeside ? output + reasoning : output, reasoning, cachedInput, cacheWrite }
  return countedUsage(counts, servedModel)
}
