import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { foreignCalls } from '../../answer/calls.ts'
import { addSource, generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asList, asObject, asText, type Json } from '../../json.ts'

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
