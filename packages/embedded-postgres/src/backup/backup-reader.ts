import type { PGlite } from '@electric-sql/pglite'
import type { DatabaseFolder } from '../directory/database-folder.ts'
import { openFiles } from './database-files.ts'
import type { BackupPiece } from './serve-backups.ts'
import { type ArchivedFile, archiveBytes } from './write-archive.ts'

interface OpenDatabase {
  pglite: PGlite
  folder: DatabaseFolder
}

export interface BackupReader {
  /** Starts a backup if none is being read. Returns undefined after the last piece. */
  read(): Promise<BackupPiece | undefined>
  /** Ends the backup, if one is being read. */
  end(): Promise<void>
}

/** Reads an open database as an archive, piece by piece on request. The caller must prevent checkpoints. */
export function backupReader(database: () => OpenDatabase): BackupReader {
  let pieces: AsyncGenerator<Buffer> | undefined
  let read = 0
  const start = (): AsyncGenerator<Buffer> => {
    const { pglite, folder } = database()
    read = 0
    return archiveBytes(
      countBytes(openFiles(pglite, folder), (bytes) => {
        read += bytes
      }),
    )
  }
  return {
    async read() {
      pieces ??= start()
      const { value, done } = await pieces.next()
      if (done) pieces = undefined
      // A copy, because sending a slice would also send the rest of the buffer.
      return done ? undefined : { bytes: new Uint8Array(value), read }
    },
    async end() {
      const ended = pieces
      pieces = undefined
      await ended?.return(undefined)
    },
  }
}

export async function* countBytes(
  files: AsyncIterable<ArchivedFile>,
  count: (bytes: number) => void,
): AsyncGenerator<ArchivedFile> {
  for await (const file of files) {
    yield file
    count(file.size ?? 0)
  }
}
