import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseFolder, isOwnEntry } from '../directory/database-folder.ts'
import type { ArchivedFile } from './write-archive.ts'

/** Maximum bytes of one read. Statements wait while a read is in progress. */
const READ_BYTES = 1024 * 1024
const LOG = 'pg_wal'

export async function* closedFiles(folder: DatabaseFolder): AsyncGenerator<ArchivedFile> {
  yield* databaseFiles(folder)
}

/**
 * Reads the files with PostgreSQL's online backup. Files may change during the copy. The write-ahead log is read last,
 * so that PostgreSQL can repair the copy at the copy's first start. Checkpoints must wait, because they delete the log.
 */
export async function* openFiles(pglite: PGlite, folder: DatabaseFolder): AsyncGenerator<ArchivedFile> {
  const begin = await pglite.query<{ segment: string }>(
    `SELECT pg_walfile_name(pg_backup_start('backup', true)) AS segment`,
  )
  let isStopped = false
  const stop = async () => {
    isStopped = true
    const { rows } = await pglite.query<{ label: string; segment: string }>(
      'SELECT labelfile AS label, pg_walfile_name(lsn) AS segment FROM pg_backup_stop(false)',
    )
    return rows[0] ?? { label: '', segment: '' }
  }
  try {
    for (const file of databaseFiles(folder)) if (!isLogSegment(file)) yield file
    const { label, segment: last } = await stop()
    yield { path: 'backup_label', ...contentOf(Buffer.from(label)) }
    yield* logBetween(folder.path, begin.rows[0]?.segment ?? '', last)
  } finally {
    if (!isStopped) await stop()
  }
}

function isLogSegment({ path, pieces }: ArchivedFile): boolean {
  return pieces !== undefined && path.startsWith(`${LOG}/`)
}

/** Skips segments after `last`, because the backup does not need them. */
function* logBetween(directory: string, first: string, last: string): Generator<ArchivedFile> {
  const names = readdirSync(join(directory, LOG)).sort()
  const segments = names.filter((name) => name.length === first.length && name >= first && name <= last)
  if (segments[0] !== first) throw new Error(`The log ${first} was deleted while the backup was made`)
  for (const name of segments) yield* readFile(join(directory, LOG, name), `${LOG}/${name}`)
}

function* databaseFiles(folder: DatabaseFolder, below = ''): Generator<ArchivedFile> {
  for (const entry of readdirSync(join(folder.path, below), { withFileTypes: true })) {
    const path = below + entry.name
    if (below === '' && isOwnEntry(folder, entry.name)) continue
    if (entry.isDirectory()) {
      yield { path }
      yield* databaseFiles(folder, `${path}/`)
    } else if (entry.isFile() && entry.name !== 'postmaster.pid') yield* readFile(join(folder.path, path), path)
  }
}

/** Yields nothing for a file that was deleted after its directory was read. */
function* readFile(file: string, path: string): Generator<ArchivedFile> {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    yield { path, size, pieces: readPieces(descriptor, size) }
  } finally {
    closeSync(descriptor)
  }
}

/** Pads with zeros if the file was truncated during the read. Log replay truncates the copy again. */
function* readPieces(descriptor: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size; at += READ_BYTES) {
    const piece = Buffer.alloc(Math.min(READ_BYTES, size - at))
    readSync(descriptor, piece, 0, piece.length, at)
    yield piece
  }
}

function contentOf(bytes: Buffer): Pick<ArchivedFile, 'size' | 'pieces'> {
  return { size: bytes.length, pieces: [bytes] }
}
