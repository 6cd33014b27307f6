import { rm, rmdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { OperatorError } from '../../../../shared/app-error.ts'
import { makeFolder } from '../../../../shared/make-folder.ts'
import { lockDirectory } from '../directory/directory-lock.ts'
import { buildDatabase, clearWork, isDatabase, workFolder, writeOutside } from '../directory/first-start.ts'
import { requireBackupSpace } from '../disk-space.ts'
import { openPglite } from '../open-pglite.ts'
import { closedFiles, openFiles } from './database-files.ts'
import { isFirstFormat, unpackFirstFormat } from './first-format.ts'
import { readArchive } from './read-archive.ts'
import { partOf, writeArchive } from './write-archive.ts'

/** Backs up an open database into `file`. Statements are executed meanwhile; the caller makes no checkpoint. */
export async function backUp(pglite: PGlite, directory: string, file: string): Promise<void> {
  await writeOutside(directory, partOf(file), () => writeArchive(openFiles(pglite, directory), file))
}

/**
 * Backs up the database in `directory`, which no server may have open, into `file`. The file is proved by unpacking and
 * opening it before this returns.
 */
export async function backupDatabase(directory: string, file: string): Promise<void> {
  if (!(await isThere(directory))) throw new OperatorError(`There is no database in ${directory}`)
  const lock = await lockDirectory(directory)
  try {
    await clearWork(directory)
    if (!(await isDatabase(directory))) throw new OperatorError(`There is no database in ${directory}`)
    makeFolder(dirname(resolve(file)))
    await requireBackupSpace(directory, file, { isOpen: false })
    await writeOutside(directory, partOf(file), () => writeArchive(closedFiles(directory), file))
    const proof = workFolder(directory)
    await unpackAndOpen(file, proof).finally(() => rm(proof, { recursive: true, force: true }))
  } finally {
    await lock.release()
  }
}

/**
 * Restores `file` to `directory`, which holds no database and which no server may have open. Nothing changes when the file is
 * cut, damaged or does not open.
 */
export async function restoreDatabase(directory: string, file: string): Promise<void> {
  const wasThere = await isThere(directory)
  const lock = await lockDirectory(directory)
  try {
    await clearWork(directory)
    if (await isDatabase(directory)) throw new OperatorError(`There is a database in ${directory} already`)
    await buildDatabase(directory, (work) => unpackAndOpen(file, work))
  } finally {
    await lock.release()
    // Removes nothing but an empty directory, which a restore that failed has made.
    if (!wasThere) await rmdir(directory).catch(() => undefined)
  }
}

async function isThere(directory: string): Promise<boolean> {
  return (await stat(directory).catch(() => undefined)) !== undefined
}

async function unpackAndOpen(file: string, directory: string): Promise<void> {
  await ((await isFirstFormat(file)) ? unpackFirstFormat(file, directory) : readArchive(file, directory))
  // The engine would make a new database in a directory that has none.
  if (!(await isDatabase(directory))) throw new OperatorError(`${file} is no backup (it has no database)`)
  const pglite = await openPglite(directory)
  try {
    await pglite.query('SELECT count(*) FROM _prisma_migrations')
  } finally {
    await pglite.close()
  }
}
