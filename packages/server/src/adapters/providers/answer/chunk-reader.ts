/** The interface that every protocol implements to read responses, and the errors of unreadable ones. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { asObject } from '../json.ts'

/** Reads the frames of one streamed response. */
export interface ChunkReader {
  /** Reads the data of one frame. @throws ProviderError for an error frame and for invalid JSON. */
  readFrame(data: string, into: ModelChunk[]): void
  /** The end mark was read. Later frames are not part of the response. */
  isDone(): boolean
  /** Adds the last chunks. @throws ProviderError `malformed` if the response is not complete. */
  finish(into: ModelChunk[]): void
}

/** @throws ProviderError `malformed` */
export function parseAnswer(data: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(data)
    // Google wraps an error in a list of one.
    return asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  } catch {
    throw unreadable()
  }
}

export function unreadable(): ProviderError {
  return new ProviderError('malformed', 'The provider sent an answer that cannot be read')
}

export function brokenInTheMiddle(): ProviderError {
  return new ProviderError('malformed', 'The answer of the provider ended in the middle')
}

/**
 * The error for content that stet's messages cannot represent. Such content is never dropped silently.
 * @param contentType the provider's own name for it.
 */
export function uncarried(contentType: string): ProviderError {
  const shown = contentType.slice(0, 100)
  return new ProviderError('uncarried', `The answer holds content of type '${shown}', which stet cannot carry`, {
    contentType: shown,
  })
}
