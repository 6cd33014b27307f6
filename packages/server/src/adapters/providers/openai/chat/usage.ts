/** The usage object of chat completions in stet's form. */
import { asNumber, asObject } from '../../answer/json.ts'
import { type CountedUsage, countedUsage } from '../../answer/usage.ts'

export function chatUsage(value: unknown): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['prompt_tokens_details'])
  const input = asNumber(usage['prompt_tokens']) ?? 0
  const output = asNumber(usage['completion_tokens']) ?? 0
  const reasoning = asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ?? 0
  // Some services (xAI) count reasoning beside the completion; their total tells.
  const isBeside = reasoning > 0 && asNumber(usage['total_tokens']) === input + output + reasoning
  return countedUsage({
    input,
    output: isBeside ? output + reasoning : output,
    reasoning,
    cachedInput: asNumber(details['cached_tokens']) ?? asNumber(usage['prompt_cache_hit_tokens']) ?? 0,
    cacheWrite: asNumber(details['cache_write_tokens']) ?? 0,
  })
}
