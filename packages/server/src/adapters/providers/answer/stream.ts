/** A streamed response: each read of the socket is parsed and handed on within the same event-loop turn. */
import { isAscii } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import type { ModelChunk, TakeChunks } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { connectionLost, type ProviderLimits, transportError } from '../transport/transport.ts'

/** Reads the frames of one streamed response, in the terms of a protocol. */
export interface ChunkReader {
  /** Reads the data of one frame. @throws ProviderError for an error frame and for invalid JSON. */
  readFrame(data: string, into: ModelChunk[]): void
  /** The end mark was read. Later frames are not part of the response. */
  isDone(): boolean
  /** Adds the last chunks. @throws ProviderError `malformed` if the response is not complete. */
  finish(into: ModelChunk[]): void
}

/**
 * Hands chunks to `take` in order, and settles after them. The body is paused while chunks are not taken.
 * @throws ProviderError. After an abort it rejects with the transport's own error.
 */
export function streamChunks(
  body: Readable,
  reader: ChunkReader,
  limits: ProviderLimits,
  take: TakeChunks,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const decode = textDecoder()
    let chunks: ModelChunk[] = []
    let pending: Promise<void> | undefined
    /** Complete or failed. Chunks may still be pending. */
    let isOver = false

    const parser = createParser({
      maxBufferSize: limits.frameBytes,
      onEvent: ({ data }) => {
        if (!reader.isDone()) reader.readFrame(data, chunks)
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
      const goOn = () => {
        pending = undefined
        body.resume()
      }
      pending.then(goOn, (error: unknown) => {
        pending = undefined
        fail(error)
      })
    }
    const read = (bytes?: Buffer) => {
      chunks = []
      try {
        // Some services omit the last blank line.
        parser.feed(bytes ? decode(bytes) : `${decode()}\n\n`)
        const isWhole = !bytes || reader.isDone()
        if (isWhole) reader.finish(chunks)
        deliver()
        // The body ends by itself, so the connection stays open for the next call.
        if (isWhole) settle(resolve)
      } catch (error) {
        // A bad frame does not lose the text before it.
        deliver()
        fail(transportError(error))
      }
    }
    body.on('data', (bytes: Buffer) => {
      // Nothing after the end mark belongs to the response.
      if (isOver) body.destroy()
      else read(bytes)
    })
    body.on('end', () => {
      if (!isOver) read()
    })
    body.on('error', (error) => fail(transportError(error)))
    // A body destroyed without an error emits neither `end` nor `error`.
    body.on('close', () => fail(new ProviderError('unavailable', connectionLost)))
  })
}

/** Decodes UTF-8 in pieces; a call without bytes ends the text. @throws TypeError for invalid UTF-8. */
function textDecoder(): (bytes?: Buffer) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // False before the first piece, because the decoder drops a byte order mark there.
  let isBetweenCharacters = false
  return (bytes) => {
    if (!bytes) return decoder.decode()
    // Most pieces are plain ASCII, which `latin1` decodes faster. At this point the decoder holds no partial character.
    if (isBetweenCharacters && isAscii(bytes)) return bytes.toString('latin1')
    isBetweenCharacters = (bytes.at(-1) ?? 0x80) < 0x80
    return decoder.decode(bytes, { stream: true })
  }
}
