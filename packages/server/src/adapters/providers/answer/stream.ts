/**
 * Parses each socket read and passes its chunks on in the same event-loop turn. The first character says whether a body
 * is JSON or a stream, because services send either where the other was requested, under either content type.
 */
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import type { ModelChunk, TakeChunks } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { connectionLost, type ProviderLimits, transportError } from '../transport/transport.ts'
import { type AnswerReader, Frames, failureOf } from './frames.ts'

/** The wait after a finish reason beside content, in multiples of `endMs`. */
const uncertainWaits = 10

// Some gateways send a line of JSON before the events.
const mixed = /^(data|event):/m

/** Reads a complete body that begins as JSON. */
export function readPlain(body: string, reader: AnswerReader, limits: ProviderLimits, into: ModelChunk[]): void {
  if (mixed.test(body)) {
    const feed = pieceReader(reader, limits)
    feed(body, into)
    feed(undefined, into)
  } else {
    const frames = new Frames(reader)
    frames.readBody(body, into)
    frames.finish('', into)
  }
}

/** Returns a function that reads a piece of an answer. Without a piece, it ends the answer. */
function pieceReader(reader: AnswerReader, { frameBytes: limitBytes, plainBytes }: ProviderLimits) {
  const frames = new Frames(reader)
  let chunks: ModelChunk[] = []
  /** The lines outside of events, or JSON. */
  let bare = ''
  /** Undefined until the first character. JSON is collected until its end. */
  let isJson: boolean | undefined
  const tooLarge = () => new ProviderError('malformed', 'The provider sent a frame that is too large')
  const parser = createParser({
    maxBufferSize: limitBytes,
    onEvent: ({ data, event }) => frames.read(data, event, chunks),
    onError: ({ type, field, value = '', line = '' }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLarge()
      if (field === 'error') throw failureOf(value, reader.token)
      if (type === 'unknown-field') bare += `${line}\n`
      if (bare.length > limitBytes) throw tooLarge()
    },
  })
  return (piece: string | undefined, into: ModelChunk[]) => {
    chunks = into
    if (piece !== undefined) {
      if (isJson === undefined && piece.trim() !== '') isJson = /^\s*[{[]/.test(piece)
      if (!isJson) return parser.feed(piece)
      bare += piece
      if (bare.length <= plainBytes) return
      throw new ProviderError('malformed', `The answer has more than ${plainBytes} bytes`)
    }
    if (isJson && mixed.test(bare)) {
      const events = bare
      bare = ''
      parser.feed(events)
    }
    // Adds a final blank line, because some services omit it. After the finish reason, an incomplete frame is ignored.
    if (!reader.isEnding && !reader.isDone) parser.feed('\n\n')
    frames.finish(bare, into)
  }
}

/**
 * Passes chunks to `take` in order, and pauses the body while `take` is pending. After the finish reason, the answer is
 * complete even if the connection breaks or stays open.
 * @throws ProviderError, or any error of `take`.
 */
export function streamChunks(
  body: Readable,
  reader: AnswerReader,
  limits: ProviderLimits,
  take: TakeChunks,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const feed = pieceReader(reader, limits)
    let pending: Promise<void> | undefined
    /** Ends an answer whose finish reason has arrived. */
    let endTimer: NodeJS.Timeout | undefined
    let endWaitMs: number | undefined
    /** True once the response is complete or has failed. A call of `take` may still be pending. */
    let isOver = false

    const settle = (tell: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(endTimer)
      if (pending) pending.then(tell, reject)
      else tell()
    }
    const fail = (error: unknown) => {
      settle(() => reject(error))
      body.destroy()
    }
    const deliver = (chunks: ModelChunk[]) => {
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
    const read = (piece: string | undefined) => {
      const chunks: ModelChunk[] = []
      try {
        if (piece !== undefined) feed(piece, chunks)
        const isWhole = piece === undefined || reader.isDone
        if (isWhole) feed(undefined, chunks)
        deliver(chunks)
        // The body is not destroyed, so that the connection can serve the next call.
        if (isWhole) return settle(resolve)
      } catch (error) {
        deliver(chunks)
        return fail(transportError(error))
      }
      // Content after a finish reason restarts the wait, and a certain end shortens it.
      const waitMs = reader.isEnding ? limits.endMs * (reader.isEndCertain === false ? uncertainWaits : 1) : undefined
      if (waitMs === endWaitMs) return
      clearTimeout(endTimer)
      endWaitMs = waitMs
      endTimer = waitMs === undefined ? undefined : setTimeout(endOpen, waitMs)
    }
    /** Ends an answer without the end of its body. While `take` is pending, the body may hold unread counts. */
    const endOpen = () => {
      if (isOver) return
      if (body.isPaused() && !body.destroyed) endTimer = setTimeout(endOpen, limits.endMs)
      else if (pending) pending.then(endNow, fail)
      else endNow()
    }
    const endNow = () => {
      read(undefined)
      body.destroy()
    }
    const lose = (error: ProviderError) => {
      if (reader.isEnding) endOpen()
      else fail(error)
    }
    listen(body, { isOver: () => isOver, read, lose })
  })
}

interface BodyEvents {
  isOver(): boolean
  /** @param piece undefined at the end of the body. */
  read(piece: string | undefined): void
  lose(error: ProviderError): void
}

function listen(body: Readable, { isOver, read, lose }: BodyEvents): void {
  // Replaces invalid bytes, and drops a byte order mark.
  const decoder = new TextDecoder()
  body.on('data', (bytes: Buffer) => {
    if (isOver()) body.destroy()
    else read(decoder.decode(bytes, { stream: true }))
  })
  body.on('end', () => {
    const rest = isOver() ? '' : decoder.decode()
    if (rest !== '') read(rest)
    if (!isOver()) read(undefined)
  })
  body.on('error', (error) => lose(transportError(error)))
  // A body destroyed without an error emits only `close`.
  body.on('close', () => {
    // An error costs as much as some frames, because it records its stack.
    if (!isOver()) lose(new ProviderError('unavailable', connectionLost))
  })
  // If the start of the body was read before, the body is paused, and may be lost already.
  if (body.destroyed) lose(new ProviderError('unavailable', connectionLost))
  else body.resume()
}
