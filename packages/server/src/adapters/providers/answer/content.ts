/** Parts of a response that several protocols share: sources, generated images, tool arguments and usage. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { type Usage, usageOf } from '../../../features/providers/usage.ts'
import { refuseValue } from '../../../shared/text-guard.ts'
import { asObject } from '../json.ts'
import { dataUrl, type Media, mediaOf } from '../request/parts.ts'

/**
 * Ignores citations without an address, which refer to the caller's own documents. @param citation an object or an
 * address.
 */
export function addSource(citation: unknown, into: ModelChunk[]): void {
  if (typeof citation === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url: citation } })
  const { url, title } = asObject(citation)
  if (typeof url === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url, title } })
}

type FileChunk = Extract<ModelChunk, { type: 'file' }>

/** @param content a URL, a data URL or base64. */
export function generatedImage(content: string, mimeType?: string): FileChunk {
  return fileChunk(mediaOf({ type: 'image', image: content, ...(mimeType !== undefined && { mimeType }) }), content)
}

// A valid data URL is kept as is, because it may be several megabytes long.
function fileChunk(media: Media, content: string): FileChunk {
  const { mimeType } = media
  if ('url' in media) return { type: 'file', url: media.url, mimeType }
  const url = /^data:[^,]*;base64,/i.test(content) ? content : dataUrl(media)
  return { type: 'file', url, mimeType }
}

/** Undefined for anything but a JSON object that can be stored and returned unchanged. */
export function parseArguments(rawArgs: string): Record<string, unknown> | undefined {
  if (rawArgs.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(rawArgs)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && refuseValue(value) === undefined ? { ...value } : undefined
  } catch {
    return undefined
  }
}

export interface CountedUsage {
  usage: Usage
  cacheWriteTokens?: number
}

/** @param counts totals: input includes cache reads and writes, output includes reasoning. */
export function countedUsage({
  cacheWrite,
  ...counts
}: Parameters<typeof usageOf>[0] & { cacheWrite?: number }): CountedUsage {
  return {
    usage: usageOf(counts),
    ...(cacheWrite !== undefined && cacheWrite > 0 ? { cacheWriteTokens: cacheWrite } : {}),
  }
}
