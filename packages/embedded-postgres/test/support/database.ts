import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DatabaseFolder } from '../../src/directory/database-folder.ts'
import { makeDatabase } from '../../src/directory/database-template.ts'
import { isDatabase } from '../../src/directory/first-start.ts'
import type { Log } from '../../src/maintenance/log.ts'
import type { SqlSession } from '../../src/sql-session.ts'
import { temporaryRoot } from './temporary-folder.ts'

/** The database thread's source file, which needs no build. */
export const threadFile = fileURLToPath(new URL('database-thread.mjs', import.meta.url))

export const silent: Log = { error: () => {}, warn: () => {}, info: () => {} }

export function folderOf(path: string): DatabaseFolder {
  return { path, owner: 'test' }
}

const createItem = (session: SqlSession): Promise<void> =>
  session.script('CREATE TABLE item (id serial PRIMARY KEY, name text NOT NULL)')

/** Returns a closed database directory with the table `item`, created once per machine. */
export async function itemTemplate(): Promise<string> {
  const directory = join(await temporaryRoot(), 'embedded-postgres-template-0.5.16')
  if (await isDatabase(folderOf(directory))) return directory
  const own = await mkdtemp(`${directory}-making-`)
  await makeDatabase(join(own, 'db'), createItem)
  // If several test processes run concurrently, the first one wins.
  await rename(join(own, 'db'), directory).catch(async (error: unknown) => {
    if (!(await isDatabase(folderOf(directory)))) throw error
  })
  await rm(own, { recursive: true, force: true })
  return directory
}
