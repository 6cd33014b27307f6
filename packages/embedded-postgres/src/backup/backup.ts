import { rm, rmdir, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseFolder, workFolder } from '../directory/database-folder.ts'
import { connectToHolder, type DirectoryLock, lockDirectory } from '../directory/directory-lock.ts'
import { buildDatabase, clearWork, isDatabase, writeOutside } from '../directory/first-start.ts'
import { requireWholeLog } from '../durable/log-position.ts'
import { DatabaseInUseError, EmbeddedPostgresError } from '../failure.ts'
import { requireBackupSpace, sizeOf } from '../maintenance/disk-space.ts'
import { openPglite } from '../open-pglite.ts'
import { countBytes } from './backup-reader.ts'
import { type CountedRows, countRows } from './count-rows.ts'
import { closedFiles, openFiles } from './database-files.ts'
import { partOf, placeFile } from './place-file.ts'
import { readArchive } from './read-archive.ts'
import { brokenOff, receiveBackup } from './request-backup.ts'
import { writeArchive } from './write-archive.ts'

/** Backs up an open database while it executes statements. The caller must prevent checkpoints. */
export async function backUp(pglite: PGlite, folder: DatabaseFolder, file: string): Promise<void> {
  const write = (temporary: string) => writeArchive(openFiles(pglite, folder), temporary)
  await writeOutside(folder, partOf(file), () => placeFile(file, write))
}

export interface BackupFile {
  folder: DatabaseFolder
  /** The backup file. Its folder must exist. */
  file: string
  /** A query that fails unless the database belongs to this program. */
  probe: string
}

export interface NewBackup extends BackupFile {
  /** @param total an estimate; `read` may end below or above it */
  onProgress?(read: number, total: number): void
}

/**
 * Backs up a database. If another process has it open, that process makes the backup and sends it. Then verifies the
 * backup by unpacking it and reading all rows; `file` appears only if that succeeds.
 */
export async function backupDatabase(backup: NewBackup): Promise<CountedRows> {
  const { folder } = backup
  if (!(await isThere(folder))) throw new EmbeddedPostgresError(`There is no database in ${folder.path}`)
  let lock: DirectoryLock
  try {
    lock = await lockDirectory(folder)
  } catch (error) {
    if (error instanceof DatabaseInUseError) return backUpRunning(backup, error)
    throw error
  }
  return backUpClosed(backup).finally(() => lock.release())
}

async function backUpClosed(backup: NewBackup): Promise<CountedRows> {
  const { folder, file } = backup
  await clearWork(folder)
  if (!(await isDatabase(folder))) throw new EmbeddedPostgresError(`There is no database in ${folder.path}`)
  requireWholeLog(folder)
  await requireBackupSpace(folder, file, { isOpen: false, isVerified: true })
  const total = await sizeOf(folder)
  let read = 0
  const files = countBytes(closedFiles(folder), (bytes) => {
    read += bytes
    backup.onProgress?.(read, total)
  })
  return writeOutside(folder, partOf(file), () =>
    placeFile(file, async (temporary) => {
      await writeArchive(files, temporary)
      return verify({ ...backup, file: temporary }, workFolder(folder))
    }),
  )
}

/** @throws `inUse` if the process that has the database open does not answer */
async function backUpRunning(backup: NewBackup, inUse: DatabaseInUseError): Promise<CountedRows> {
  const { folder, file, onProgress = () => undefined } = backup
  const connection = await connectToHolder(folder)
  if (!connection) throw inUse
  const [note, proof] = [workFolder(folder), workFolder(folder)]
  const work = [note, proof].map(({ path }) => basename(path))
  try {
    await requireBackupSpace(folder, file, { isOpen: true, isVerified: true })
    const receive = async (temporary: string) => {
      if (!(await receiveBackup({ connection, file: temporary, work, onProgress }))) throw inUse
      // Keeps reading, to notice if the server stops.
      connection.resume()
      return verify({ ...backup, file: temporary }, proof)
    }
    return await writeOutside(folder, partOf(file), () => placeFile(file, receive), note.path)
  } catch (error) {
    // A stopping server deletes this command's files, so any other error is a consequence.
    throw connection.destroyed && !(error instanceof EmbeddedPostgresError) ? brokenOff() : error
  } finally {
    // The server then deletes the files that a failed backup left.
    connection.destroy()
  }
}

/** Restores `file` into a folder without a database. A truncated or damaged file leaves the folder unchanged. */
export async function restoreDatabase(restore: BackupFile): Promise<CountedRows> {
  const { folder } = restore
  const wasThere = await isThere(folder)
  const lock = await lockDirectory(folder)
  try {
    await clearWork(folder)
    if (await isDatabase(folder)) throw new EmbeddedPostgresError(`There is a database in ${folder.path} already`)
    return await buildDatabase(folder, (work) => unpackAndOpen(restore, work))
  } finally {
    await lock.release()
    // After a failed restore, removes the empty directory. `rmdir` fails if it contains files.
    if (!wasThere) await rmdir(folder.path).catch(() => undefined)
  }
}

async function isThere({ path }: DatabaseFolder): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

function verify(backup: BackupFile, proof: DatabaseFolder): Promise<CountedRows> {
  return unpackAndOpen(backup, proof).finally(() => rm(proof.path, { recursive: true, force: true }))
}

async function unpackAndOpen({ file, probe }: BackupFile, work: DatabaseFolder): Promise<CountedRows> {
  await readArchive(file, work.path)
  // PGlite would create a new database in an empty directory.
  if (!(await isDatabase(work))) throw new EmbeddedPostgresError(`${file} is not a backup (it has no database)`)
  const pglite = await openPglite(work)
  try {
    await pglite.query(probe)
    return await countRows(pglite)
  } finally {
    await pglite.close()
  }
}
