/** What every protocol has to offer for reading its answers. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { asObject } from './json.ts'

/** Reads the frames of one streamed answer. */
export interface ChunkReader {
  /** One frame's data. @throws ProviderError for an error frame and for what is no JSON. */
  readFrame(data: string, into: ModelChunk[]): void
  /** The end mark was read: what follows is no part of the answer. */
  isDone(): boolean
  /** The last chunks. @throws ProviderError `malformed` when the answer is not whole. */
  finish(into: ModelChunk[]): void
}

/** @throws ProviderError `malformed` */
export function parseAnswer(data: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(data)
    // Google wraps a failure into a list of one.
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
 * What no message of stet can hold ends the call: what a model made is never dropped silently.
 * @param contentType the provider's own name for it.
 */
export function uncarried(contentType: string): ProviderError {
  const shown = contentType.slice(0, 100)
  return new ProviderError('uncarried', `The answer holds content of type '${shown}', which stet cannot carry`, {
    contentType: shown,
  })
}
