/** Generated images, in the formats that services use. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { dataUrl, type Media, mediaOf } from '../request/media.ts'

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
