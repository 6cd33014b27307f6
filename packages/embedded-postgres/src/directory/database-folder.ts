import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The directory of a database. Entries that begin with `<owner>-` belong to this package and not to PostgreSQL. */
export interface DatabaseFolder {
  path: string
  /** The program that the database belongs to. It begins the names of own entries, and each line that ends the process. */
  owner: string
}

/**
 * Own entries. They are inside, so that a mount of the directory contains them: the lock, a whole database on its way up, and work
 * that a killed process leaves (an unfinished database, the proof of a backup, or a file with the path of an unfinished backup).
 */
export function ownNames({ owner }: DatabaseFolder): { lock: string; made: string; work: string } {
  return { lock: `${owner}-lock`, made: `${owner}-made`, work: `${owner}-work-` }
}

export function isOwnEntry({ owner }: DatabaseFolder, name: string): boolean {
  return name.startsWith(`${owner}-`)
}

/** A new name for something inside the folder that the next start deletes when it is left over. */
export function workFolder(folder: DatabaseFolder): DatabaseFolder {
  return { ...folder, path: join(folder.path, ownNames(folder).work + randomBytes(6).toString('hex')) }
}

/** The entries of the database itself; none when the directory is absent. */
export async function databaseEntries(folder: DatabaseFolder): Promise<Dirent[]> {
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException): Dirent[] => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return entries.filter(({ name }) => !isOwnEntry(folder, name))
}
