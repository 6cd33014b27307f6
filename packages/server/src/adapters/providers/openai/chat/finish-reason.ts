/** Why a chat completion ended, in stet's words. */
import type { FinishReason } from '../../../../features/providers/model-driver.ts'

/** In lower case: Google passes the names of its own protocol on. */
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
  // DeepSeek gave up in the middle.
  insufficient_system_resource: 'error',
}

/** Several services say `stop` although they call tools. */
export function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  const known = reason === undefined ? 'unknown' : knownReason(reason.toLowerCase())
  return hasCalls && (known === 'stop' || known === 'unknown') ? 'tool-calls' : known
}

// Some tell more behind a colon, e.g. which filter it was.
function knownReason(reason: string): FinishReason {
  const name = reason.split(':', 1)[0] ?? reason
  return Object.hasOwn(reasons, name) ? (reasons[name] ?? 'other') : 'other'
}
