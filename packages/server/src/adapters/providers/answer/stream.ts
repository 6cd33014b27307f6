/** A streamed answer: socket reads in, arrays of chunks out; one array and one wait per read. */
import type { Readable } from 'node:stream'
import { createParser } from 'eventsource-parser'
import type { ModelChunk } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import type { ProviderLimits } from '../transport/limits.ts'
import { transportError } from '../transport/transport-error.ts'
import type { ChunkReader } from './chunk-reader.ts'
import { type Mailbox, mailbox } from './mailbox.ts'

const mailboxBytes = 1_048_576

/** Ends the body when the reader leaves. @throws ProviderError; after an abort whatever the transport reports. */
export async function* streamChunks(
  body: Readable,
  reader: ChunkReader,
  limits: ProviderLimits,
): AsyncGenerator<ModelChunk[]> {
  const chunks = mailbox<ModelChunk>(mailboxBytes, { onFull: () => body.pause(), onEmpty: () => body.resume() })
  const isWhole = listen(body, frameFeed(reader, limits), chunks)
  try {
    for (let batch = await chunks.take(); batch; batch = await chunks.take()) yield batch
  } finally {
    // After the end mark the body is left to end by itself: the connection then stays open for the next call.
    if (!isWhole()) body.destroy()
  }
}

interface FrameFeed {
  /** Chunks of the frames that these bytes complete. They are in `into` also when it throws. */
  feed(bytes: Buffer, into: ModelChunk[]): void
  /** The end mark was read. */
  readonly isDone: boolean
  finish(into: ModelChunk[]): void
}

function frameFeed(reader: ChunkReader, limits: ProviderLimits): FrameFeed {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let target: ModelChunk[] = []
  const parser = createParser({
    maxBufferSize: limits.frameBytes,
    onEvent: ({ data }) => {
      if (!reader.isDone) reader.readFrame(data, target)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded')
        throw new ProviderError('malformed', 'The provider sent a frame that is too large')
    },
  })
  return {
    feed(bytes, into) {
      target = into
      parser.feed(decoder.decode(bytes, { stream: true }))
    },
    get isDone() {
      return reader.isDone
    },
    finish(into) {
      target = into
      // Some services leave out the last blank line.
      if (!reader.isDone) parser.feed(`${decoder.decode()}\n\n`)
      reader.finish(into)
    },
  }
}

/** @returns whether the answer is whole. */
function listen(body: Readable, feed: FrameFeed, chunks: Mailbox<ModelChunk>): () => boolean {
  let state: 'open' | 'whole' | 'failed' = 'open'
  // What was read before a failure is delivered first: a frame's text is not lost to its bad successor.
  const read = (weight: number, work: (batch: ModelChunk[]) => void) => {
    const batch: ModelChunk[] = []
    try {
      work(batch)
      chunks.put(batch, weight)
      if (state === 'whole') chunks.end()
    } catch (error) {
      state = 'failed'
      chunks.put(batch, weight)
      chunks.fail(transportError(error))
      body.destroy()
    }
  }
  const finish = (batch: ModelChunk[]) => {
    feed.finish(batch)
    state = 'whole'
  }
  body.on('data', (bytes: Buffer) => {
    if (state !== 'open') return void body.destroy()
    read(bytes.length, (batch) => {
      feed.feed(bytes, batch)
      if (feed.isDone) finish(batch)
    })
  })
  body.on('end', () => {
    if (state === 'open') read(0, finish)
  })
  body.on('error', (error) => chunks.fail(transportError(error)))
  // A body that is destroyed without an error of its own ends neither with `end` nor with `error`.
  body.on('close', () => chunks.fail(new ProviderError('unavailable', 'The connection to the provider broke off')))
  return () => state === 'whole'
}
