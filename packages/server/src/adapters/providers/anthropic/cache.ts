/** Cache marks: the provider caches the prompt up to each of them. */
import type Anthropic from '@anthropic-ai/sdk'

/** The cache mark of a part, message or configuration, under either of its names. `true` means the default mark. */
export function cacheMark(holder: Readonly<Record<string, unknown>>): Anthropic.CacheControlEphemeral | undefined {
  const mark = holder['cache_control'] ?? holder['cacheControl']
  if (mark === true || mark === 'ephemeral') return { type: 'ephemeral' }
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return undefined
  return { type: 'ephemeral', ...mark }
}
