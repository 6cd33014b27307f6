/** Why a chat completion ended, as stet's finish reason. */
import type { FinishReason } from '../../../../features/providers/model-driver.ts'

/** Lower case, because Google passes on the names of its own protocol. */
const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  content_filter: 'content-filter',
  safety: 'content-filter',
  recitation: 'content-filter',
  blocklist: 'content-filter',
  prohibited_content: 'content-filter',
  spii: 'content-filter',
  image_safety: 'content-filter',
  image_prohibited_content: 'content-filter',
  image_recitation: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  error: 'error',
  malformed_function_call: 'error',
  // DeepSeek aborted the response.
  insufficient_system_resource: 'error',
}

/** Several services report `stop` although the model called tools. */
export function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  const known = reason === undefined ? 'unknown' : knownReason(reason.toLowerCase())
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

// Some services add details after a colon, e.g. the filter that matched.
function knownReason(reason: string): FinishReason {
  const name = reason.split(':', 1)[0] ?? reason
  return Object.hasOwn(reasons, name) ? (reasons[name] ?? 'other') : 'other'
}
