import { rm, rmdir, stat } from 'node:fs/promises'
import type { PGlite } from '@electric-sql/pglite'
import { type DatabaseFolder, workFolder } from '../directory/database-folder.ts'
import { lockDirectory } from '../directory/directory-lock.ts'
import { buildDatabase, clearWork, isDatabase, writeOutside } from '../directory/first-start.ts'
import { EmbeddedPostgresError } from '../failure.ts'
import { requireBackupSpace } from '../maintenance/disk-space.ts'
import { openPglite } from '../open-pglite.ts'
import { closedFiles, openFiles } from './database-files.ts'
import { readArchive } from './read-archive.ts'
import { partOf, writeArchive } from './write-archive.ts'

/** Backs up an open database while it executes statements. The caller must prevent checkpoints. */
export async function backUp(pglite: PGlite, folder: DatabaseFolder, file: string): Promise<void> {
  await writeOutside(folder, partOf(file), () => writeArchive(openFiles(pglite, folder), file))
}

export interface ClosedBackup {
  /** The database directory. No other process may have it open. */
  folder: DatabaseFolder
  /** The backup file. Its folder must exist. */
  file: string
  /** A query that fails unless the database belongs to this program. */
  probe: string
  /** Unpacks a legacy backup into a new directory. Returns false for any other file. */
  unpackOther?: (file: string, directory: string) => Promise<boolean>
}

/** Backs up a closed database, then verifies the backup by unpacking and opening it. */
export async function backupDatabase(backup: ClosedBackup): Promise<void> {
  const { folder, file } = backup
  if (!(await isThere(folder))) throw new EmbeddedPostgresError(`There is no database in ${folder.path}`)
  const lock = await lockDirectory(folder)
  try {
    await clearWork(folder)
    if (!(await isDatabase(folder))) throw new EmbeddedPostgresError(`There is no database in ${folder.path}`)
    await requireBackupSpace(folder, file, { isOpen: false })
    await writeOutside(folder, partOf(file), () => writeArchive(closedFiles(folder), file))
    const proof = workFolder(folder)
    await unpackAndOpen(backup, proof).finally(() => rm(proof.path, { recursive: true, force: true }))
  } finally {
    await lock.release()
  }
}

/** Restores `file` into a folder without a database. A truncated or damaged file leaves the folder unchanged. */
export async function restoreDatabase(backup: ClosedBackup): Promise<void> {
  const { folder } = backup
  const wasThere = await isThere(folder)
  const lock = await lockDirectory(folder)
  try {
    await clearWork(folder)
    if (await isDatabase(folder)) throw new EmbeddedPostgresError(`There is a database in ${folder.path} already`)
    await buildDatabase(folder, (work) => unpackAndOpen(backup, work))
  } finally {
    await lock.release()
    // After a failed restore, removes the empty directory. `rmdir` fails if it contains files.
    if (!wasThere) await rmdir(folder.path).catch(() => undefined)
  }
}

async function isThere({ path }: DatabaseFolder): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function unpackAndOpen({ file, probe, unpackOther }: ClosedBackup, work: DatabaseFolder): Promise<void> {
  if (!(await unpackOther?.(file, work.path))) await readArchive(file, work.path)
  // PGlite would create a new database in an empty directory.
  if (!(await isDatabase(work))) throw new EmbeddedPostgresError(`${file} is not a backup (it has no database)`)
  const pglite = await openPglite(work)
  try {
    await pglite.query(probe)
  } finally {
    await pglite.close()
  }
}
