import type OpenAI from 'openai'
import type { MessagePart } from '../../../../features/templates/message.ts'
import { addressOf, dataUrl, type Media, mediaOf, unsupported } from '../../request/parts.ts'
import type { OpenaiService } from '../service.ts'

type UserPart = OpenAI.ChatCompletionContentPart
type MediaPart = Extract<MessagePart, { type: 'image' | 'file' }>

/** @throws ProviderError `unsupported` */
export function mediaPart(provider: OpenaiService, part: MediaPart): UserPart {
  const media = mediaOf(part)
  const { files, sound, refusesImages } = provider.traits
  if (part.type === 'image' || media.mimeType.startsWith('image/')) {
    if (refusesImages) throw unsupported(provider, part.type, 'in any message')
    return imagePart(addressOf(media), part['detail'])
  }
  if (files === 'none') throw unsupported(provider, 'file', 'in any message')
  if (media.mimeType.startsWith('audio/')) return soundPart(provider, sound, media)
  // The client's types lack this format, which other services use.
  if (files === 'document_url') return { type: files, document_url: addressOf(media) } as unknown as UserPart
  if (files === 'file_url') {
    const url = 'url' in media ? media.url : media.base64
    return { type: files, file_url: { url }, ...named(part) } as unknown as UserPart
  }
  if ('url' in media) throw unsupported(provider, 'file', 'by URL')
  const filename = typeof part['name'] === 'string' ? part['name'] : 'file'
  return { type: 'file', file: { file_data: dataUrl(media), filename } }
}

function soundPart(provider: OpenaiService, form: 'object' | 'text' | undefined, media: Media): UserPart {
  if (form === undefined) throw unsupported(provider, 'audio file', 'in any message')
  if (form === 'text') {
    return { type: 'input_audio', input_audio: 'url' in media ? media.url : media.base64 } as unknown as UserPart
  }
  if ('url' in media) throw unsupported(provider, 'audio file', 'by URL')
  const format = audioFormat(media.mimeType)
  if (format === undefined) throw unsupported(provider, 'audio file', `of type ${media.mimeType}`)
  return { type: 'input_audio', input_audio: { data: media.base64, format } }
}

function imagePart(url: string, detail: unknown): UserPart {
  const isWish = detail === 'low' || detail === 'high' || detail === 'auto'
  return { type: 'image_url', image_url: isWish ? { url, detail } : { url } }
}

function named(part: MediaPart): Record<string, unknown> {
  return typeof part['name'] === 'string' ? { file_name: part['name'] } : {}
}

function audioFormat(mimeType: string): 'wav' | 'mp3' | undefined {
  if (/^audio\/(x-|vnd\.)?wave?$/.test(mimeType)) return 'wav'
  return /^audio\/(mpeg|mp3)$/.test(mimeType) ? 'mp3' : undefined
}
