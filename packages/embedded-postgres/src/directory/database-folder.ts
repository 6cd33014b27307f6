import { randomBytes } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Directory entries that begin with `<owner>-` belong to this package, all others to PostgreSQL. */
export interface DatabaseFolder {
  path: string
  /**
   * The name of the program that owns the database. It begins the names of this package's entries and the messages on
   * stderr.
   */
  owner: string
}

/**
 * The names of the lock, of a finished database before its move, and of the position that the write-ahead log must
 * reach; the prefix of temporary entries. These entries are inside the directory, because the directory may be a mount.
 */
export function ownNames({ owner }: DatabaseFolder) {
  return { lock: `${owner}-lock`, made: `${owner}-made`, position: `${owner}-log-position`, work: `${owner}-work-` }
}

export function isOwnEntry({ owner }: DatabaseFolder, name: string): boolean {
  return name.startsWith(`${owner}-`)
}

/** Returns a new path for temporary files, without creating it. The next start deletes leftovers. */
export function workFolder(folder: DatabaseFolder): DatabaseFolder {
  return { ...folder, path: join(folder.path, ownNames(folder).work + randomBytes(6).toString('hex')) }
}

export async function databaseEntries(folder: DatabaseFolder): Promise<Dirent[]> {
  const entries = await readdir(folder.path, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException): Dirent[] => {
      if (error.code === 'ENOENT') return []
      throw error
    },
  )
  return entries.filter(({ name }) => !isOwnEntry(folder, name))
}
