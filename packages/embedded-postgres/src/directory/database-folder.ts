import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The directory of a database. Entries that begin with `<owner>-` belong to this package and not to PostgreSQL. */
export interface DatabaseFolder {
  path: string
  /** The program that owns the database. Names of own entries and final log lines begin with it. */
  owner: string
}

/**
 * Own entries, inside the directory so that a mount contains them: the lock, a finished database about to move up, and
 * leftovers of killed processes (an unfinished database, a backup under verification, the path of an unfinished backup).
 */
export function ownNames({ owner }: DatabaseFolder): { lock: string; made: string; work: string } {
  return { lock: `${owner}-lock`, made: `${owner}-made`, work: `${owner}-work-` }
}

export function isOwnEntry({ owner }: DatabaseFolder, name: string): boolean {
  return name.startsWith(`${owner}-`)
}

/** A new name inside the folder. The next start deletes a leftover with such a name. */
export function workFolder(folder: DatabaseFolder): DatabaseFolder {
  return { ...folder, path: join(folder.path, ownNames(folder).work + randomBytes(6).toString('hex')) }
}

/** The entries of the database itself; none if the directory does not exist. */
export async function databaseEntries(folder: DatabaseFolder): Promise<Dirent[]> {
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException): Dirent[] => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return entries.filter(({ name }) => !isOwnEntry(folder, name))
}
