/** Compresses a text that is too large to be in memory twice. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createDeflateRaw, type ZlibOptions } from 'node:zlib'
import { evenTexts } from '../../../shared/json-pieces.ts'

// Small texts go together: each write costs a turn to another thread and back.
const writeCharacters = 65_536

/** The deflated UTF-8 of the texts, one after the other; between two of them others get their turn. */
export async function deflatePieces(texts: Iterable<string>, options: ZlibOptions): Promise<Buffer[]> {
  const packed: Buffer[] = []
  const source = Readable.from(evenTexts(texts, writeCharacters), { objectMode: true, highWaterMark: 1 })
  // With a reader as the last member: a pipeline that ends with the packer is over when that has been given everything,
  // not when it has given everything back.
  await pipeline(source, createDeflateRaw(options), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) packed.push(piece)
  })
  return packed
}
