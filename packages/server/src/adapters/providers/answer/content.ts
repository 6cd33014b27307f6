import type { CountedUsage, ModelChunk } from '../../../features/providers/model-driver.ts'
import { type TokenCounts, usageOf } from '../../../features/providers/usage.ts'
import { storableText } from '../../../shared/text-guards.ts'
import { asCount, asObject, isObject, type Json } from '../json.ts'
import { addressOf, mediaOf } from '../request/parts.ts'

export interface PiecedText {
  /** The high surrogate that ended the last piece, or an empty string. */
  held: string
}

// Matches NUL and lone surrogates. With the `u` flag, a surrogate pair counts as one character.
const unstorable = /[\0\p{Surrogate}]/u

/**
 * Returns the text without a final high surrogate, which waits for the next piece. Replaces NUL and lone surrogates,
 * which PostgreSQL cannot store.
 */
export function addPiece(text: PiecedText, piece: string): string {
  if (text.held === '' && !unstorable.test(piece)) return piece
  const whole = text.held + piece
  const last = whole.charCodeAt(whole.length - 1)
  text.held = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : ''
  return storableText(whole.slice(0, whole.length - text.held.length))
}

export function endPieces(text: PiecedText): string {
  const rest = storableText(text.held)
  text.held = ''
  return rest
}

export function addText(text: string, into: ModelChunk[]): void {
  if (text !== '') into.push({ type: 'text-delta', text })
}

/** Adds citations with a URL. Other citations refer to the caller's own documents and are ignored. */
export function addSource(citation: unknown, into: ModelChunk[]): void {
  const { url, title } = asObject(typeof citation === 'string' ? { url: citation } : citation)
  if (typeof url === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url, title } })
}

/** @param content a URL, a data URL or base64. A base64 data URL is kept unchanged, because the text may be long. */
export function generatedImage(content: string, mimeType?: string): ModelChunk {
  const media = mediaOf({ type: 'image', image: content, ...(mimeType !== undefined && { mimeType }) })
  const url = /^data:[^,]*;base64,/i.test(content) ? content : addressOf(media)
  return { type: 'file', url, mimeType: media.mimeType }
}

/** @param counts totals. `input` includes cache reads and writes, and `output` includes reasoning. */
export function countedUsage(
  counts: TokenCounts & { cacheWrite?: number | undefined },
  servedModel: string,
): CountedUsage {
  const { cacheWrite = 0 } = counts
  return {
    usage: usageOf(counts),
    ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
    ...(servedModel !== '' && { servedModel }),
  }
}

/** Merges counts. Services repeat them with growing numbers, and some send `null`, 0 or nothing later. */
export function mergeCounts(counts: Json, later: unknown): void {
  for (const [key, value] of Object.entries(asObject(later))) {
    const count = asCount(value)
    if (isObject(value)) {
      counts[key] ??= Object.create(null)
      mergeCounts(asObject(counts[key]), value)
    } else if (count !== undefined && (count > 0 || !(key in counts))) counts[key] = count
  }
}
