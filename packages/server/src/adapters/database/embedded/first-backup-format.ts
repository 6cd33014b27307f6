/**
 * Backup format up to release 0.1: a magic line, a gzip stream, and the SHA-256 of both. The stream is a sequence of
 * entries: a JSON line with path and size, then the file's bytes. A folder has no size and no bytes.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { OperatorError } from '../../../shared/app-error.ts'

const MAGIC = Buffer.from('stet backup 1\n')
const DIGEST_BYTES = 32

interface Entry {
  path: string
  size?: number
}

/** Returns false for another format. Rejects truncated and damaged files before writing anything. */
export async function unpackFirstFormat(file: string, directory: string): Promise<boolean> {
  if (!(await readAt(file, 0, MAGIC.length)).equals(MAGIC)) return false
  const end = (await stat(file)).size - DIGEST_BYTES
  const hash = createHash('sha256')
  if (end > MAGIC.length)
    for await (const chunk of createReadStream(file, { end: end - 1 })) hash.update(chunk as Buffer)
  if (end <= MAGIC.length || !hash.digest().equals(await readAt(file, end, DIGEST_BYTES)))
    throw new OperatorError(`${file} is truncated, damaged or not a backup`)
  await mkdir(directory, { mode: 0o700 })
  const source = createReadStream(file, { start: MAGIC.length, end: end - 1 })
  await pipeline(source, createGunzip(), (bytes) => writeEntries(bytes, directory))
  return true
}

async function readAt(file: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function writeEntries(bytes: AsyncIterable<Buffer>, directory: string): Promise<void> {
  let buffered: Buffer[] = []
  let length = 0
  let entry: Entry | undefined
  for await (const chunk of bytes) {
    buffered.push(chunk)
    length += chunk.length
    // Joins the chunks only when an entry may be complete, so that a large file is not copied once per chunk.
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
    throw new OperatorError(`The backup contains a path outside of its folder: ${entry.path}`)
  if (entry.size === undefined) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    return
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, content, { mode: 0o600 })
}
