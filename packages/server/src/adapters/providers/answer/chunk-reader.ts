/** What every protocol has to offer for reading its answers. */
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { asObject } from './json.ts'

/** Reads the frames of one streamed answer. */
export interface ChunkReader {
  /** One frame's data. @throws ProviderError for an error frame and for what is no JSON. */
  readFrame(data: string, into: ModelChunk[]): void
  /** The end mark was read: what follows is no part of the answer. */
  readonly isDone: boolean
  /** The last chunks. @throws ProviderError `malformed` when the answer is not whole. */
  finish(into: ModelChunk[]): void
}

/** @throws ProviderError `malformed` */
export function parseAnswer(data: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(data))
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
