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

/** @throws ProviderError. After an abort it rejects with the transport's own error. */
export function streamChunks(
  body: Readable,
  reader: ChunkReader,
  limits: ProviderLimits,
  take: TakeChunks,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const feed = frameFeed(reader, limits)
    const delivery = deliver(body, take, { resolve, reject })
    // Chunks read before a failure are delivered first, so a bad frame does not lose the text before it.
    const read = (work: (chunks: ModelChunk[]) => void) => {
      const chunks: ModelChunk[] = []
      try {
        work(chunks)
        delivery.add(chunks)
        if (feed.isWhole()) delivery.end()
      } catch (error) {
        delivery.add(chunks)
        delivery.fail(transportError(error))
      }
    }
    body.on('data', (bytes: Buffer) => {
      // Nothing after the end mark belongs to the response.
      if (delivery.isOver()) body.destroy()
      else read((chunks) => feed.read(bytes, chunks))
    })
    body.on('end', () => {
      if (!delivery.isOver()) read((chunks) => feed.finish(chunks))
    })
    body.on('error', (error) => delivery.fail(transportError(error)))
    // A body destroyed without an error emits neither `end` nor `error`.
    body.on('close', () => delivery.fail(new ProviderError('unavailable', connectionLost)))
  })
}

interface Delivery {
  add(chunks: ModelChunk[]): void
  /** The response is complete. The body ends by itself, so the connection stays open for the next call. */
  end(): void
  /** Destroys the body. */
  fail(error: unknown): void
  /** Ended or failed. Added chunks may still be in delivery. */
  isOver(): boolean
}

/** Delivers chunks in order and the outcome after them. The body is paused while chunks are not taken. */
function deliver(
  body: Readable,
  take: TakeChunks,
  outcome: { resolve: () => void; reject: (error: unknown) => void },
): Delivery {
  let isOver = false
  let pending: Promise<void> | undefined
  const settle = (tell: () => void) => {
    if (isOver) return
    isOver = true
    if (pending) pending.then(tell, outcome.reject)
    else tell()
  }
  const fail = (error: unknown) => {
    settle(() => outcome.reject(error))
    body.destroy()
  }
  const wait = (taking: Promise<void>) => {
    body.pause()
    pending = taking
    taking.then(
      () => {
        pending = undefined
        body.resume()
      },
      (error: unknown) => {
        pending = undefined
        fail(error)
      },
    )
  }
  return {
    add(chunks) {
      if (isOver || chunks.length === 0) return
      try {
        const taking = take(chunks)
        if (taking) wait(taking)
      } catch (error) {
        fail(error)
      }
    },
    end: () => settle(outcome.resolve),
    fail,
    isOver() {
      return isOver
    },
  }
}

interface FrameFeed {
  /** Adds the chunks of the frames that these bytes complete, also if it throws. */
  read(bytes: Buffer, into: ModelChunk[]): void
  /** The body has ended. @throws ProviderError if the response is not complete. */
  finish(into: ModelChunk[]): void
  /** The last chunk has been read. */
  isWhole(): boolean
}

function frameFeed(reader: ChunkReader, limits: ProviderLimits): FrameFeed {
  const decode = textDecoder()
  let target: ModelChunk[] = []
  let isWhole = false
  const parser = createParser({
    maxBufferSize: limits.frameBytes,
    onEvent: ({ data }) => {
      if (!reader.isDone()) reader.readFrame(data, target)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        throw new ProviderError('malformed', 'The provider sent a frame that is too large')
    },
  })
  const end = (into: ModelChunk[]) => {
    reader.finish(into)
    isWhole = true
  }
  return {
    read(bytes, into) {
      target = into
      parser.feed(decode(bytes))
      if (reader.isDone()) end(into)
    },
    finish(into) {
      target = into
      // Some services omit the last blank line.
      parser.feed(`${decode()}\n\n`)
      end(into)
    },
    isWhole() {
      return isWhole
    },
  }
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
