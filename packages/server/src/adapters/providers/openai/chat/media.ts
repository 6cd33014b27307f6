import { defined } from '@stet/template/defined'
import type OpenAI from 'openai'
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { addSource, foreignCalls, generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asList, asObject, asText, type Json } from '../../json.ts'
import { addressOf, dataUrl, type Media, type MediaPart, mediaOf, unsupported } from '../../request/messages.ts'
import type { OpenaiService } from '../kinds.ts'

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

export interface Attachments {
  /** The images added so far. Some services repeat all images in the last frame. */
  images: Set<string>
  unknownType: string | undefined
}

/** Part types that other functions read. A few services omit the type of texts. */
const known = new Set(['', 'text', 'output_text', 'refusal', 'thinking', 'reference'])

/** @throws ProviderError `uncarried` for audio, and for calls of another protocol. */
export function addAttachments(attached: Attachments, delta: Json, into: ModelChunk[]): void {
  const { audio, images, annotations, content } = delta
  if (typeof audio === 'object' && audio !== null) throw uncarried('audio')
  for (const image of asList(images)) addImage(attached, image, into)
  for (const one of asList(annotations)) addSource(asObject(one)['url_citation'] ?? one, into)
  for (const part of Array.isArray(content) ? content : [content]) {
    const type = asText(asObject(part)['type'])
    if (type === 'image_url' || type === 'output_image') addImage(attached, part, into)
    else if (foreignCalls.has(type)) throw uncarried(type)
    else if (!known.has(type)) attached.unknownType ??= type
  }
}

function addImage(attached: Attachments, image: unknown, into: ModelChunk[]): void {
  const { image_url, b64_json, url } = asObject(image)
  const content = asText(asObject(image_url)['url']) || asText(image_url) || asText(url) || asText(b64_json)
  if (content === '' || attached.images.has(content)) return
  attached.images.add(content)
  into.push(generatedImage(content))
}
