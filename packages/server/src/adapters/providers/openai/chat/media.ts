import { defined } from '@stet/template/defined'
import type OpenAI from 'openai'
import { addressOf, dataUrl, type Media, type MediaPart, mediaOf, unsupported } from '../../request/parts.ts'
import type { OpenaiService } from '../service.ts'

/** OpenAI's parts, and parts of other services that the client's types lack. */
export type ChatPart =
  | OpenAI.ChatCompletionContentPart
  | { type: 'document_url'; document_url: string }
  | { type: 'file_url'; file_url: { url: string }; file_name?: string }
  | { type: 'input_audio'; input_audio: string }

/** @throws ProviderError `unsupported` for media that the service does not accept. */
export function mediaPart(provider: OpenaiService, part: MediaPart): ChatPart {
  const media = mediaOf(part)
  const name = typeof part['name'] === 'string' ? part['name'] : undefined
  const { files, sound, refusesImages } = provider.traits
  if (part.type === 'image' || media.mimeType.startsWith('image/')) {
    if (refusesImages) throw unsupported(provider, part.type, 'in any message')
    return imagePart(addressOf(media), part['detail'])
  }
  if (files === 'none') throw unsupported(provider, 'file', 'in any message')
  if (media.mimeType.startsWith('audio/')) return soundPart(provider, sound, media)
  if (files === 'document_url') return { type: files, document_url: addressOf(media) }
  if (files === 'file_url') {
    const url = 'url' in media ? media.url : media.base64
    return defined({ type: files, file_url: { url }, file_name: name })
  }
  if ('url' in media) throw unsupported(provider, 'file', 'by URL')
  return { type: 'file', file: { file_data: dataUrl(media), filename: name ?? 'file' } }
}

function soundPart(provider: OpenaiService, form: 'text' | 'none' | undefined, media: Media): ChatPart {
  if (form === 'none') throw unsupported(provider, 'audio file', 'in any message')
  if (form === 'text') return { type: 'input_audio', input_audio: 'url' in media ? media.url : media.base64 }
  if ('url' in media) throw unsupported(provider, 'audio file', 'by URL')
  const format = audioFormat(media.mimeType)
  if (format === undefined) throw unsupported(provider, 'audio file', `of type ${media.mimeType}`)
  return { type: 'input_audio', input_audio: { data: media.base64, format } }
}

function imagePart(url: string, detail: unknown): ChatPart {
  const isWish = detail === 'low' || detail === 'high' || detail === 'auto'
  return { type: 'image_url', image_url: isWish ? { url, detail } : { url } }
}

function audioFormat(mimeType: string): 'wav' | 'mp3' | undefined {
  if (/^audio\/(x-|vnd\.)?wave?$/.test(mimeType)) return 'wav'
  return /^audio\/(mpeg|mp3)$/.test(mimeType) ? 'mp3' : undefined
}
