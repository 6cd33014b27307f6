import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { migrate } from '../migrate.ts'
import { putInPlace, temporaryBeside } from './first-start.ts'
import { openPglite } from './open-pglite.ts'
import { pgliteSession } from './pglite-session.ts'

/** Makes a migrated database directory at `target`, in one step: an unfinished one never has the name. */
export async function makeDatabaseTemplate(packageRoot: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const temporary = temporaryBeside(target)
  try {
    await mkdir(temporary)
    const pglite = await openPglite(temporary)
    await migrate(pgliteSession(pglite), join(packageRoot, 'prisma', 'migrations'))
    await pglite.exec('CHECKPOINT')
    await pglite.close()
    await putInPlace(temporary, target)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
