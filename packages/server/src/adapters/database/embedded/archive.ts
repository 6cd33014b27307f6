import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { OperatorError } from '../../../shared/app-error.ts'
import { databaseEntries } from './directory/own-entries.ts'
import { syncParent } from './durable/sync-tree.ts'

/*
 * One file: MAGIC, a gzip stream, and the SHA-256 of both. The stream is a chain of entries: a line of JSON with the
 * path and, for a file, its size, then its bytes.
 */
const MAGIC = Buffer.from('stet backup 1\n')
const DIGEST_BYTES = 32

interface Entry {
  path: string
  /** Bytes of a file; absent for a directory. */
  size?: number
}

/** The name of a backup that is being written. */
export function partOf(file: string): string {
  return `${file}.part`
}

/** Packs the files under `directory` into `file`, which appears whole or not at all. */
export async function packDirectory(directory: string, file: string): Promise<void> {
  const temporary = partOf(file)
  try {
    const hash = createHash('sha256')
    await writeFile(temporary, MAGIC, { mode: 0o600 })
    hash.update(MAGIC)
    const target = createWriteStream(temporary, { flags: 'a' })
    await pipeline(readEntries(directory, directory), createGzip({ level: 1 }), hashing(hash), target)
    await appendDurably(temporary, hash.digest())
    await rename(temporary, file)
    await syncParent(resolve(file))
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Unpacks `file` into the new directory `directory`. A cut or damaged file is refused before anything is written. */
export async function unpackDirectory(file: string, directory: string): Promise<void> {
  const end = await verifyArchive(file)
  await mkdir(directory, { mode: 0o700 })
  const source = createReadStream(file, { start: MAGIC.length, end: end - 1 })
  await pipeline(source, createGunzip(), (bytes) => writeEntries(bytes, directory))
}

/** Checks the digest; returns the offset at which it begins. */
async function verifyArchive(file: string): Promise<number> {
  const end = (await stat(file)).size - DIGEST_BYTES
  if (end < MAGIC.length) throw damaged(file)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { end: end - 1 })) hash.update(chunk as Buffer)
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(file, { start: end })) chunks.push(chunk as Buffer)
  if (!hash.digest().equals(Buffer.concat(chunks))) throw damaged(file)
  return end
}

async function* readEntries(root: string, directory: string): AsyncGenerator<Buffer> {
  for (const entry of await databaseEntries(directory)) {
    const path = join(directory, entry.name)
    const name = relative(root, path).split(sep).join('/')
    if (entry.isDirectory()) {
      yield header({ path: name })
      yield* readEntries(root, path)
    } else if (entry.isFile() && entry.name !== 'postmaster.pid') {
      // Relation files have at most 1 GB, all others are small.
      const content = await readFile(path)
      yield header({ path: name, size: content.length })
      yield content
    }
  }
}

async function writeEntries(bytes: AsyncIterable<Buffer>, directory: string): Promise<void> {
  let buffered: Buffer[] = []
  let length = 0
  let entry: Entry | undefined
  for await (const chunk of bytes) {
    buffered.push(chunk)
    length += chunk.length
    // Joined only when an entry can be complete, so that a large file is not copied once per chunk.
    if (entry?.size !== undefined && length < entry.size) continue
    let rest: Buffer = Buffer.concat(buffered)
    for (;;) {
      if (entry === undefined) {
        const lineEnd = rest.indexOf(10)
        if (lineEnd < 0) break
        entry = JSON.parse(rest.toString('utf8', 0, lineEnd)) as Entry
        rest = rest.subarray(lineEnd + 1)
      }
      if (rest.length < (entry.size ?? 0)) break
      await writeEntry(directory, entry, rest.subarray(0, entry.size ?? 0))
      rest = rest.subarray(entry.size ?? 0)
      entry = undefined
    }
    buffered = [rest]
    length = rest.length
  }
}

async function writeEntry(root: string, entry: Entry, content: Buffer): Promise<void> {
  const path = resolve(root, entry.path)
  if (!path.startsWith(`${resolve(root)}${sep}`))
    throw new OperatorError(`The backup names a file outside of it: ${entry.path}`)
  if (entry.size === undefined) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    return
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, content, { mode: 0o600 })
}

function header(entry: Entry): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`)
}

function hashing(hash: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
}

async function appendDurably(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'a')
  try {
    await handle.write(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function damaged(file: string): OperatorError {
  return new OperatorError(`${file} is cut, damaged or no backup of stet`)
}
