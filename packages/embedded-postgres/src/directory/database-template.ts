import { randomBytes } from 'node:crypto'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { closedFiles } from '../backup/database-files.ts'
import { writeArchive } from '../backup/write-archive.ts'
import { openPglite } from '../open-pglite.ts'
import type { SqlSession } from '../sql-session.ts'
import { pgliteSession } from '../thread/pglite-session.ts'

const OWNER = 'template'

type Fill = (session: SqlSession) => Promise<unknown>

/**
 * Writes a database filled with `fill` as one tar.gz file. It is a file and not a directory because npm omits empty
 * folders from packages, and PostgreSQL does not start without some of them.
 */
export async function makeDatabaseTemplate(file: string, fill: Fill): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const path = `${file}.tmp-${randomBytes(6).toString('hex')}`
  try {
    await makeDatabase(path, fill)
    await writeArchive(closedFiles({ path, owner: OWNER }), file)
    // The server may run as a different user than the build.
    await chmod(file, 0o644)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Creates a closed database directory filled with `fill`. */
export async function makeDatabase(path: string, fill: Fill): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  const pglite = await openPglite({ path, owner: OWNER })
  await fill(pgliteSession(pglite))
  await pglite.exec('CHECKPOINT')
  await pglite.close()
}
