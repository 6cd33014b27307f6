import { rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { OperatorError } from '../../../shared/app-error.ts'
import { makeFolder } from '../../../shared/make-folder.ts'
import { packDirectory, unpackDirectory } from './archive.ts'
import { lockDirectory } from './directory-lock.ts'
import { copyDatabase, isDatabase, putInPlace, temporaryBeside } from './first-start.ts'
import { openPglite } from './open-pglite.ts'

/** Writes a snapshot of the open database into `file`. Queries wait while the files are copied, not while they are packed. */
export async function backUp(pglite: PGlite, directory: string, file: string): Promise<void> {
  const copy = temporaryBeside(directory)
  try {
    await pglite.exec('CHECKPOINT')
    await pglite.runExclusive(() => copyDatabase(directory, copy))
    await packDirectory(copy, file)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/**
 * Backs up the database in `directory`, which no server may have open, into `file`. The file is proved by unpacking and
 * opening it before this returns.
 */
export async function backupDatabase(directory: string, file: string): Promise<void> {
  if (!(await isDatabase(directory))) throw new OperatorError(`There is no database in ${directory}`)
  const lock = await lockDirectory(directory)
  try {
    makeFolder(dirname(resolve(file)))
    await packDirectory(directory, file)
    const proof = temporaryBeside(directory)
    await unpackAndOpen(file, proof).finally(() => rm(proof, { recursive: true, force: true }))
  } finally {
    await lock.release()
  }
}

/**
 * Restores `file` to `directory`, which no server may have open. A database that is there already is refused, or with
 * `replace` kept beside it: the result is its new name. Nothing changes when the file is cut, damaged or does not open.
 */
export async function restoreDatabase(
  directory: string,
  file: string,
  options: { replace?: boolean } = {},
): Promise<{ replaced?: string }> {
  const lock = await lockDirectory(directory)
  const temporary = temporaryBeside(directory)
  try {
    const isThere = await isDatabase(directory)
    if (isThere && options.replace !== true) throw new OperatorError(`There is a database in ${directory} already`)
    await unpackAndOpen(file, temporary)
    if (!isThere) {
      await putInPlace(temporary, directory)
      return {}
    }
    const replaced = `${directory}.before-${new Date().toISOString().replace(/\D/g, '').slice(0, 14)}`
    await rename(directory, replaced)
    await putInPlace(temporary, directory)
    return { replaced }
  } finally {
    await rm(temporary, { recursive: true, force: true })
    await lock.release()
  }
}

async function unpackAndOpen(file: string, directory: string): Promise<void> {
  await unpackDirectory(file, directory)
  const pglite = await openPglite(directory)
  try {
    await pglite.query('SELECT count(*) FROM _prisma_migrations')
  } finally {
    await pglite.close()
  }
}
