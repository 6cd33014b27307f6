/** A streamed answer: each read of the socket becomes chunks and is taken in the same turn, with no wait between. */
import { isAscii } from 'node:buffer'
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import type { ChunkSource, ModelChunk, TakeChunks } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import type { ProviderLimits } from '../transport/limits.ts'
import { transportError } from '../transport/transport-error.ts'
import type { ChunkReader } from './chunk-reader.ts'

/** @throws ProviderError; after an abort whatever the transport reports. */
export function streamChunks(body: Readable, reader: ChunkReader, limits: ProviderLimits): ChunkSource {
  return (take) =>
    new Promise((resolve, reject) => {
      const feed = frameFeed(reader, limits)
      const delivery = deliver(body, take, { resolve, reject })
      // What was read before a failure is delivered first: a frame's text is not lost to its bad successor.
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
        // After the end mark nothing belongs to the answer.
        if (delivery.isOver()) body.destroy()
        else read((chunks) => feed.read(bytes, chunks))
      })
      body.on('end', () => {
        if (!delivery.isOver()) read((chunks) => feed.finish(chunks))
      })
      body.on('error', (error) => delivery.fail(transportError(error)))
      // A body that is destroyed without an error of its own ends neither with `end` nor with `error`.
      body.on('close', () =>
        delivery.fail(new ProviderError('unavailable', 'The connection to the provider broke off')),
      )
    })
}

interface Delivery {
  add(chunks: ModelChunk[]): void
  /** The answer is whole. The body is left to end by itself: the connection then stays open for the next call. */
  end(): void
  /** Ends the body. */
  fail(error: unknown): void
  /** Ended or failed; what was added may still be on its way. */
  isOver(): boolean
}

/** Hands chunks on in their order; the body stands still while they are not taken, and the outcome comes after them. */
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
  /** Chunks of the frames that these bytes complete. They are in `into` also when it throws. */
  read(bytes: Buffer, into: ModelChunk[]): void
  /** The body has ended. @throws ProviderError when the answer is not whole. */
  finish(into: ModelChunk[]): void
  /** The last chunk is there. */
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
      // Some services leave out the last blank line.
      parser.feed(`${decode()}\n\n`)
      end(into)
    },
    isWhole() {
      return isWhole
    },
  }
}

/** UTF-8 in pieces; without bytes, the end. @throws TypeError for what is no UTF-8. */
function textDecoder(): (bytes?: Buffer) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // Not before the first piece: the decoder drops a byte order mark there.
  let isBetweenCharacters = false
  return (bytes) => {
    if (!bytes) return decoder.decode()
    // Most pieces are plain ASCII, and cheaper so; the decoder then holds no part of a character.
    if (isBetweenCharacters && isAscii(bytes)) return bytes.toString('latin1')
    isBetweenCharacters = (bytes.at(-1) ?? 0x80) < 0x80
    return decoder.decode(bytes, { stream: true })
  }
}
