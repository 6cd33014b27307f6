/** stet's own entries inside the database directory. They are inside, so that a mount of that directory contains them. */
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

const OWN_PREFIX = 'stet-'

/** The folder that the lock is. While it is taken, and after a kill, folders with longer names. */
export const LOCK = `${OWN_PREFIX}lock`
/** A whole database on its way up into the directory. */
export const MADE = `${OWN_PREFIX}made`
/** Work that a killed process leaves: an unfinished database, the proof of a backup, or a file with the path of an unfinished backup. */
export const WORK = `${OWN_PREFIX}work-`

export function isOwnEntry(name: string): boolean {
  return name.startsWith(OWN_PREFIX)
}

/** The entries of the database itself; none when the directory is absent. */
export async function databaseEntries(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return entries.filter(({ name }) => !isOwnEntry(name))
}
