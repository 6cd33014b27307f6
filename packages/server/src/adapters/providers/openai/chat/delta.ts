/** Reads text, reasoning, finish reasons and usage in the formats that services use. */

import type { FinishReason } from '../../../../features/providers/model-driver.ts'
import { type CountedUsage, countedUsage } from '../../answer/content.ts'
import { asNumber, asObject, asText } from '../../json.ts'
import type { KindTraits } from '../kinds.ts'

/** Answer text, including refusals. Mistral sends lists of parts. */
export function spokenOf({ content, refusal }: Record<string, unknown>): string {
  const text = Array.isArray(content) ? textsOf(content, 'text') : asText(content)
  return text === '' ? asText(refusal) : text
}

/** Some services send the same reasoning under both names. Mistral sends it as a content part. */
export function thoughtOf({ reasoning_content, reasoning, content }: Record<string, unknown>): string {
  const text = asText(reasoning_content) || asText(reasoning)
  if (text !== '' || !Array.isArray(content)) return text
  return content
    .map((part) => asObject(part)['thinking'])
    .map((thinking) => (Array.isArray(thinking) ? textsOf(thinking, 'text') : asText(thinking)))
    .join('')
}

/** Encrypted reasoning from gateways such as OpenRouter. Each item is complete and must be sent back unchanged. */
export function sealedThoughtsOf({ reasoning_details }: Record<string, unknown>): unknown[] {
  const details = Array.isArray(reasoning_details) ? reasoning_details : []
  return details.filter((detail) => asObject(detail)['type'] === 'reasoning.encrypted')
}

function textsOf(parts: readonly unknown[], type: string): string {
  return parts
    .map(asObject)
    .map((part) => (part['type'] === type ? asText(part['text']) : ''))
    .join('')
}

/** Lower case, because Google passes on the names of its own protocol. */
const reasons = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content-filter'],
  ['safety', 'content-filter'],
  ['recitation', 'content-filter'],
  ['blocklist', 'content-filter'],
  ['prohibited_content', 'content-filter'],
  ['spii', 'content-filter'],
  ['image_safety', 'content-filter'],
  ['image_prohibited_content', 'content-filter'],
  ['image_recitation', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['error', 'error'],
  ['malformed_function_call', 'error'],
  // DeepSeek aborted the response.
  ['insufficient_system_resource', 'error'],
])

/** Several services report `stop` although the model called tools. */
export function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  // Some services add details after a colon, e.g. the filter that matched.
  const [name = ''] = reason?.toLowerCase().split(':', 1) ?? []
  const known = reason === undefined ? 'unknown' : (reasons.get(name) ?? 'other')
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

export function chatUsage(value: unknown, { countsThoughtsInTotal }: KindTraits): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['prompt_tokens_details'])
  const input = asNumber(usage['prompt_tokens']) ?? 0
  const output = asNumber(usage['completion_tokens']) ?? 0
  // The part of the total beyond input and output. Some services report reasoning only there.
  const beside = Math.max(0, (asNumber(usage['total_tokens']) ?? 0) - input - output)
  const reasoning =
    asNumber(asObject(usage['completion_tokens_details'])['reasoning_tokens']) ??
    asNumber(usage['reasoning_tokens']) ??
    (countsThoughtsInTotal ? beside : 0)
  const cachedInput =
    asNumber(details['cached_tokens']) ??
    asNumber(usage['prompt_cache_hit_tokens']) ??
    asNumber(usage['num_cached_tokens']) ??
    asNumber(usage['cached_tokens']) ??
    0
  // xAI and Perplexity count reasoning outside the completion: it is part of the total, or exceeds the completion.
  const isBeside = reasoning > output || (reasoning > 0 && beside === reasoning)
  const cacheWrite = asNumber(details['cache_write_tokens']) ?? 0
  return countedUsage({ input, output: isBeside ? output + reasoning : output, reasoning, cachedInput, cacheWrite })
}
