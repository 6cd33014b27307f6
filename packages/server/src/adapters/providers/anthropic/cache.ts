/** Marks up to which the provider keeps what it has read. */
import type Anthropic from '@anthropic-ai/sdk'

/** The mark of a part, message or configuration, under either of its names; `true` means the usual one. */
export function cacheMark(holder: Readonly<Record<string, unknown>>): Anthropic.CacheControlEphemeral | undefined {
  const mark = holder['cache_control'] ?? holder['cacheControl']
  if (mark === true || mark === 'ephemeral') return { type: 'ephemeral' }
  if (typeof mark !== 'object' || mark === null || Array.isArray(mark)) return undefined
  return { type: 'ephemeral', ...mark }
}
