import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { syncPath, syncTree } from '../durable/sync-tree.ts'
import { DamagedDatabaseError, EmbeddedPostgresError } from '../failure.ts'
import { openPglite } from '../open-pglite.ts'
import { type DatabaseFolder, databaseEntries, ownNames, workFolder } from './database-folder.ts'

/** PostgreSQL's marker file. It is moved last, so a directory that contains it is complete. */
const MARK = 'PG_VERSION'

/**
 * Unpacks the template, or creates a database if there is no template. Keeps an existing database. The next start
 * deletes or completes the work of a killed start. Requires the directory lock.
 * @throws DamagedDatabaseError if a database must exist, but there is none.
 */
export async function prepareDirectory(
  folder: DatabaseFolder,
  { template, mustExist = false }: { template: string; mustExist?: boolean | undefined },
): Promise<void> {
  await mkdir(folder.path, { recursive: true, mode: 0o700 })
  await clearWork(folder)
  if (await isDatabase(folder)) return
  if (mustExist) throw new DamagedDatabaseError(`There is no database in ${folder.path}, but there was one`, 'absent')
  const hasTemplate = existsSync(template)
  await buildDatabase(folder, (work) => (hasTemplate ? unpackTemplate(template, work.path) : initialize(work)))
}

/** @throws EmbeddedPostgresError if the directory contains other files but no database. */
export async function isDatabase(folder: DatabaseFolder): Promise<boolean> {
  const entries = await databaseEntries(folder)
  if (entries.length === 0) return false
  if (!entries.some(({ name }) => name === MARK))
    throw new EmbeddedPostgresError(`${folder.path} is not empty and holds no database: choose another folder`)
  return true
}

/** Builds in a temporary folder, then durably moves the entries. Keeps the directory itself, because it may be a mount. */
export async function buildDatabase<T>(
  folder: DatabaseFolder,
  build: (work: DatabaseFolder) => Promise<T>,
): Promise<T> {
  const work = workFolder(folder)
  let result: T
  try {
    result = await build(work)
    await syncTree(work.path)
    await rename(work.path, join(folder.path, ownNames(folder).made))
  } finally {
    await rm(work.path, { recursive: true, force: true })
  }
  await moveUp(folder)
  return result
}

/** Deletes or completes a killed process's leftovers. Requires the directory lock. */
export async function clearWork(folder: DatabaseFolder): Promise<void> {
  const names = await readdir(folder.path)
  const { made, work } = ownNames(folder)
  const left = names.filter((name) => name.startsWith(work))
  await Promise.all(left.map((name) => deleteWork(join(folder.path, name))))
  if (names.includes(made)) await moveUp(folder)
}

/** Deletes the named entries of a command that has ended. Other names are ignored. */
export async function clearWorkOf(folder: DatabaseFolder, names: readonly string[]): Promise<void> {
  const { work } = ownNames(folder)
  const own = names.filter((name) => name.startsWith(work) && /^[\w-]+$/.test(name))
  // An entry that was deleted already, or whose files are busy, is left to the next start.
  for (const name of own) await deleteWork(join(folder.path, name)).catch(() => undefined)
}

/** A leftover that is a file contains the path of an unfinished backup elsewhere. */
async function deleteWork(path: string): Promise<void> {
  const unfinished = (await stat(path)).isFile() ? await readFile(path, 'utf8') : ''
  // The file is empty if the backup never began. A missing or read-only disk must not prevent the start.
  if (unfinished !== '') await rm(unfinished, { force: true }).catch(() => undefined)
  await rm(path, { recursive: true, force: true })
}

/** Writes a file outside the directory. After a kill, the next start deletes the unfinished file. */
export async function writeOutside<T>(
  folder: DatabaseFolder,
  file: string,
  write: () => Promise<T>,
  note = workFolder(folder).path,
): Promise<T> {
  await writeFile(note, resolve(file), { mode: 0o600 })
  try {
    return await write()
  } finally {
    await rm(note, { force: true })
  }
}

async function moveUp(folder: DatabaseFolder): Promise<void> {
  const directory = folder.path
  const made = join(directory, ownNames(folder).made)
  // Belongs to an earlier database.
  await rm(join(directory, ownNames(folder).position), { force: true })
  await syncPath(directory)
  const names = await readdir(made)
  const moveAll = async (moved: string[]) => {
    for (const name of moved) await rename(join(made, name), join(directory, name))
    await syncPath(directory)
    await syncPath(made)
  }
  await moveAll(names.filter((name) => name !== MARK))
  await moveAll(names.filter((name) => name === MARK))
  await rmdir(made)
  await syncPath(directory)
}

/** Synchronous, because that takes a quarter of the time, and the database's thread has no other work yet. */
async function unpackTemplate(template: string, directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 })
  // Loaded here, because only a first start needs it.
  const { extract } = await import('tar/extract')
  extract({ file: template, cwd: directory, sync: true, strict: true, preserveOwner: false, noMtime: true })
}

async function initialize(folder: DatabaseFolder): Promise<void> {
  await mkdir(folder.path, { mode: 0o700 })
  const pglite = await openPglite(folder)
  await pglite.close()
}
