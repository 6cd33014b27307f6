/** Why a Responses call ended, and its usage. */
import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { asNumber, asObject, asText } from '../../answer/json.ts'
import { type CountedUsage, countedUsage } from '../../answer/usage.ts'

export function finishOf(
  response: Record<string, unknown>,
  { hasCalls, namesDeployments }: { hasCalls: boolean; namesDeployments: boolean },
): ModelChunk {
  const servedModel = namesDeployments ? asText(response['model']) : ''
  return {
    type: 'finish',
    finishReason: reasonOf(response, hasCalls),
    ...responseUsage(response['usage']),
    ...(servedModel === '' ? {} : { servedModel }),
  }
}

function reasonOf(response: Record<string, unknown>, hasCalls: boolean): FinishReason {
  const { reason } = asObject(response['incomplete_details'])
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return 'length'
  if (reason === 'content_filter') return 'content-filter'
  if (response['status'] === 'incomplete') return 'other'
  return hasCalls ? 'tool-calls' : 'stop'
}

function responseUsage(value: unknown): CountedUsage {
  const usage = asObject(value)
  const details = asObject(usage['input_tokens_details'])
  return countedUsage({
    input: asNumber(usage['input_tokens']) ?? 0,
    output: asNumber(usage['output_tokens']) ?? 0,
    reasoning: asNumber(asObject(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
    cachedInput: asNumber(details['cached_tokens']) ?? 0,
    cacheWrite: asNumber(details['cache_write_tokens']) ?? 0,
  })
}
