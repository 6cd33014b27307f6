/** Parses each socket read and passes its chunks on in the same event-loop turn. */
import { isAscii } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import type { ModelChunk, TakeChunks } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type Json, parseAnswer } from '../json.ts'
import { connectionLost, type ProviderLimits, transportError } from '../transport/transport.ts'

/** Reads one answer, either frame by frame or as a whole. */
export interface AnswerReader {
  readonly isDone: boolean
  /** @throws ProviderError for an error frame, invalid JSON, or content that stet cannot represent. */
  readFrame(data: string, into: ModelChunk[]): void
  /** @throws ProviderError for an error, JSON that is not an answer, or content that stet cannot represent. */
  readPlain(answer: Json, into: ModelChunk[]): void
  /**
   * Adds the last chunks.
   * @throws ProviderError `malformed` for an incomplete response, `uncarried` for content that stet cannot represent.
   */
  finish(into: ModelChunk[]): void
}

export function plainChunks(body: string, reader: AnswerReader): ModelChunk[] {
  const chunks: ModelChunk[] = []
  reader.readPlain(parseAnswer(body), chunks)
  reader.finish(chunks)
  return chunks
}

/**
 * Passes chunks to `take` in order, and pauses the body while `take` is pending.
 * @throws ProviderError, or any error of `take`.
 */
export function streamChunks(
  body: Readable,
  reader: AnswerReader,
  limits: ProviderLimits,
  take: TakeChunks,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const decode = textDecoder()
    let chunks: ModelChunk[] = []
    let pending: Promise<void> | undefined
    /** True once the response is complete or has failed. A call of `take` may still be pending. */
    let isOver = false

    const parser = createParser({
      maxBufferSize: limits.frameBytes,
      onEvent: ({ data }) => {
        if (!reader.isDone) reader.readFrame(data, chunks)
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded')
          throw new ProviderError('malformed', 'The provider sent a frame that is too large')
      },
    })
    const settle = (tell: () => void) => {
      if (isOver) return
      isOver = true
      if (pending) pending.then(tell, reject)
      else tell()
    }
    const fail = (error: unknown) => {
      settle(() => reject(error))
      body.destroy()
    }
    const deliver = () => {
      if (isOver || chunks.length === 0) return
      try {
        pending = take(chunks)
      } catch (error) {
        return fail(error)
      }
      if (!pending) return
      body.pause()
      pending.then(() => body.resume(), fail)
    }
    const read = (bytes?: Buffer) => {
      chunks = []
      try {
        // Adds a final blank line, because some services omit it.
        parser.feed(bytes ? decode(bytes) : `${decode()}\n\n`)
        const isWhole = !bytes || reader.isDone
        if (isWhole) reader.finish(chunks)
        deliver()
        // The body is not destroyed, so that the connection can serve the next call.
        if (isWhole) settle(resolve)
      } catch (error) {
        deliver()
        fail(transportError(error))
      }
    }
    body.on('data', (bytes: Buffer) => {
      if (isOver) body.destroy()
      else read(bytes)
    })
    body.on('end', () => {
      if (!isOver) read()
    })
    body.on('error', (error) => fail(transportError(error)))
    // A body destroyed without an error emits only `close`.
    body.on('close', () => fail(new ProviderError('unavailable', connectionLost)))
  })
}

/** Decodes UTF-8 in pieces. A call without bytes ends the text. @throws TypeError for invalid UTF-8. */
function textDecoder(): (bytes?: Buffer) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // False at first, so that the decoder reads the first piece and drops a byte order mark.
  let isBetweenCharacters = false
  return (bytes) => {
    if (!bytes) return decoder.decode()
    // Most pieces are ASCII, which `latin1` decodes faster. The decoder has no partial character here.
    if (isBetweenCharacters && isAscii(bytes)) return bytes.toString('latin1')
    isBetweenCharacters = (bytes.at(-1) ?? 0x80) < 0x80
    return decoder.decode(bytes, { stream: true })
  }
}
