/** Sends the URLs of media to the provider. stet never fetches them. */

import type { MessagePart } from '@stet/contract/vocabulary'
import type { ProviderSettings } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'

export type Media = { url: string; mimeType: string } | { base64: string; mimeType: string }

export type MediaPart = Extract<MessagePart, { type: 'image' | 'file' }>

const imageTypes = { '/9j/': 'image/jpeg', R0lG: 'image/gif', UklGR: 'image/webp' }

export function mediaOf(part: MediaPart): Media {
  const content = part.type === 'image' ? part.image : part.file
  const given = part.mimeType?.toLowerCase()
  if (/^https?:\/\//i.test(content)) return { url: content, mimeType: given ?? 'image/png' }
  const data = /^data:([^;,]*)(?:;[^,]*)?,/i.exec(content)
  if (!data) return { base64: content, mimeType: given ?? imageTypeOf(content) }
  const [head, type = ''] = data
  const body = content.slice(head.length)
  const base64 = /;base64,$/i.test(head) ? body : Buffer.from(decoded(body)).toString('base64')
  return { base64, mimeType: type === '' ? (given ?? 'image/png') : type.toLowerCase() }
}

export function dataUrl({ base64, mimeType }: { base64: string; mimeType: string }): string {
  return `data:${mimeType};base64,${base64}`
}

export function addressOf(media: Media): string {
  return 'url' in media ? media.url : dataUrl(media)
}

function imageTypeOf(base64: string): string {
  return Object.entries(imageTypes).find(([start]) => base64.startsWith(start))?.[1] ?? 'image/png'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** @param where the end of the error message, for example `in system messages`. */
export function unsupported(provider: ProviderSettings, type: string, where: string): ProviderError {
  return new ProviderError('unsupported', `Provider '${provider.name}' takes no ${type} parts ${where}`)
}

export function resultText(result: unknown): string {
  return typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null')
}
