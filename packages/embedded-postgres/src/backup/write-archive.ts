/** Writes a database directory as a plain tar.gz, which `tar xzf` can unpack. */
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Header } from 'tar/header'

export interface ArchivedFile {
  /** The path relative to the database directory, with forward slashes. */
  path: string
  size?: number
  /** Exactly `size` bytes in total. Undefined for a directory. */
  pieces?: Iterable<Buffer>
}

const BLOCK_BYTES = 512
/** The size is large, because each piece costs one tick of the event loop, which also executes statements. */
const PIECE_BYTES = 1024 * 1024

export function writeArchive(files: AsyncIterable<ArchivedFile>, file: string): Promise<void> {
  return pipeline(archiveBytes(files), createWriteStream(file, { mode: 0o600 }))
}

/** Returns after `files` has ended, even if the reader stops early. */
export async function* archiveBytes(files: AsyncIterable<ArchivedFile>): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: 1, chunkSize: PIECE_BYTES })
  // Reading from `gzip` throws the same error.
  const written = pipeline(inPieces(tarBytes(files)), gzip).catch(() => undefined)
  try {
    yield* gzip
  } finally {
    gzip.destroy()
    await written
  }
}

async function* tarBytes(files: AsyncIterable<ArchivedFile>): AsyncGenerator<Buffer> {
  for await (const { path, size, pieces } of files) {
    const [type, mode] = pieces ? (['File', 0o600] as const) : (['Directory', 0o700] as const)
    const header = new Header({ path, type, mode, size: size ?? 0, mtime: new Date() })
    if (header.encode() || !header.block) throw new Error(`The path ${path} is too long for an archive`)
    yield header.block
    if (!pieces) continue
    yield* pieces
    const padding = -(size ?? 0) & (BLOCK_BYTES - 1)
    if (padding > 0) yield Buffer.alloc(padding)
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}

async function* inPieces(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let length = 0
  for await (const chunk of bytes) {
    chunks.push(chunk)
    length += chunk.length
    if (length < PIECE_BYTES) continue
    yield Buffer.concat(chunks)
    chunks = []
    length = 0
  }
  yield Buffer.concat(chunks)
}
