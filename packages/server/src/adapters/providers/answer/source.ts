/** A page that an answer rests on, whichever protocol tells of it. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { asObject } from './json.ts'

/** What has no address is passed by: it is a place in the caller's own documents. @param citation an object or an address. */
export function addSource(citation: unknown, into: ModelChunk[]): void {
  if (typeof citation === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url: citation } })
  const { url, title } = asObject(citation)
  if (typeof url === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url, title } })
}
