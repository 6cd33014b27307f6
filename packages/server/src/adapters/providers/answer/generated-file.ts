/** Images that a model made, in the forms in which services send them. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { dataUrl, type Media, mediaOf } from '../request/media.ts'

type FileChunk = Extract<ModelChunk, { type: 'file' }>

/** @param content an address, a data URL or base64. */
export function generatedImage(content: string, mimeType?: string): FileChunk {
  return fileChunk(mediaOf({ type: 'image', image: content, ...(mimeType !== undefined && { mimeType }) }), content)
}

// A data URL that is already in the right form is kept: it may be megabytes long.
function fileChunk(media: Media, content: string): FileChunk {
  const { mimeType } = media
  if ('url' in media) return { type: 'file', url: media.url, mimeType }
  const url = /^data:[^,]*;base64,/i.test(content) ? content : dataUrl(media)
  return { type: 'file', url, mimeType }
}
