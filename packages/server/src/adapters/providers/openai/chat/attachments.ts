/** Content besides text, reasoning and calls: generated images, and content that stet cannot represent. */
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { addSource, generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asObject, asText } from '../../json.ts'

export interface Attachments {
  /** @throws ProviderError `uncarried` for sound. */
  add(delta: Record<string, unknown>, into: ModelChunk[]): void
  hasFiles(): boolean
  /** The type of an unknown part. */
  unknownType(): string | undefined
}

const readElsewhere = new Set(['text', 'thinking', 'reference'])

export function attachments(): Attachments {
  // Some services repeat all images in the last frame.
  const seen = new Set<string>()
  let unknownType: string | undefined

  const addImage = (image: unknown, into: ModelChunk[]) => {
    const { image_url, b64_json, url } = asObject(image)
    const content = asText(asObject(image_url)['url']) || asText(image_url) || asText(url) || asText(b64_json)
    if (content === '' || seen.has(content)) return
    seen.add(content)
    into.push(generatedImage(content))
  }
  return {
    add(delta, into) {
      if (typeof delta['audio'] === 'object' && delta['audio'] !== null) throw uncarried('audio')
      if (Array.isArray(delta['images'])) for (const image of delta['images']) addImage(image, into)
      if (Array.isArray(delta['annotations'])) {
        for (const one of delta['annotations']) addSource(asObject(one)['url_citation'] ?? one, into)
      }
      if (!Array.isArray(delta['content'])) return
      for (const part of delta['content'].map(asObject)) {
        const type = asText(part['type'])
        if (type === 'image_url' || type === 'output_image') addImage(part, into)
        else if (!readElsewhere.has(type)) unknownType ??= type
      }
    },
    hasFiles() {
      return seen.size > 0
    },
    unknownType() {
      return unknownType
    },
  }
}
