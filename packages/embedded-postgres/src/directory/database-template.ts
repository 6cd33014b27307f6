import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openPglite } from '../open-pglite.ts'
import type { SqlSession } from '../sql-session.ts'
import { pgliteSession } from '../thread/pglite-session.ts'

/** Creates a database and fills it with `fill`. The directory `target` appears only when it is complete. */
export async function makeDatabaseTemplate(
  target: string,
  fill: (session: SqlSession) => Promise<unknown>,
): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const temporary = `${target}.tmp-${randomBytes(6).toString('hex')}`
  try {
    await mkdir(temporary)
    const pglite = await openPglite({ path: temporary, owner: 'template' })
    await fill(pgliteSession(pglite))
    await pglite.exec('CHECKPOINT')
    await pglite.close()
    await letOthersRead(temporary)
    await rename(temporary, target)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

// PostgreSQL's files are private, but the server may run as a different user than the build.
async function letOthersRead(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
}
