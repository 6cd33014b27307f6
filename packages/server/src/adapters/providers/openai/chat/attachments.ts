import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { addSource, generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asObject, asText } from '../../json.ts'

export interface Attachments {
  /** Seen images, because some services repeat all of them in the last frame. */
  images: Set<string>
  unknownType: string | undefined
}

const readElsewhere = new Set(['text', 'thinking', 'reference'])

/** @throws ProviderError `uncarried` for audio. */
export function addAttachments(attached: Attachments, delta: Record<string, unknown>, into: ModelChunk[]): void {
  const { audio, images, annotations, content } = delta
  if (typeof audio === 'object' && audio !== null) throw uncarried('audio')
  if (Array.isArray(images)) for (const image of images) addImage(attached, image, into)
  if (Array.isArray(annotations)) {
    for (const one of annotations) addSource(asObject(one)['url_citation'] ?? one, into)
  }
  if (!Array.isArray(content)) return
  for (const part of content.map(asObject)) {
    const type = asText(part['type'])
    if (type === 'image_url' || type === 'output_image') addImage(attached, part, into)
    else if (!readElsewhere.has(type)) attached.unknownType ??= type
  }
}

function addImage(attached: Attachments, image: unknown, into: ModelChunk[]): void {
  const { image_url, b64_json, url } = asObject(image)
  const content = asText(asObject(image_url)['url']) || asText(image_url) || asText(url) || asText(b64_json)
  if (content === '' || attached.images.has(content)) return
  attached.images.add(content)
  into.push(generatedImage(content))
}
