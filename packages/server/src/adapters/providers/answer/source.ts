/** A cited source, the same for every protocol. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { asObject } from './json.ts'

/**
 * Ignores citations without an address, which refer to the caller's own documents. @param citation an object or an
 * address.
 */
export function addSource(citation: unknown, into: ModelChunk[]): void {
  if (typeof citation === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url: citation } })
  const { url, title } = asObject(citation)
  if (typeof url === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url, title } })
}
