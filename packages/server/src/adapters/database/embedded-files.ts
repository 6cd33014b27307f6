/** Backs up and restores embedded databases. This file loads PGlite, which a server loads only in its database thread. */
import { dirname, join, resolve } from 'node:path'
import { backupDatabase, type CountedRows, makeDatabaseTemplate, restoreDatabase } from '@stet/embedded-postgres/direct'
import { defined } from '@stet/template/defined'
import { makeFolder } from '../../shared/make-folder.ts'
import { asOperatorError, embeddedFolder } from './embedded.ts'
import { migrate } from './migrate.ts'

const probe = 'SELECT count(*) FROM _prisma_migrations'

export function makeTemplate(packageRoot: string, file: string): Promise<void> {
  return makeDatabaseTemplate(file, (session) => migrate(session, join(packageRoot, 'prisma', 'migrations')))
}

type OnProgress = NonNullable<Parameters<typeof backupDatabase>[0]['onProgress']>

/** While a server has the database open, the server makes the backup. */
export function backupEmbedded(directory: string, file: string, onProgress?: OnProgress): Promise<CountedRows> {
  return asOperatorError(async () => {
    makeFolder(dirname(resolve(file)))
    const folder = embeddedFolder(directory)
    return backupDatabase(defined({ folder, file, probe, onProgress }))
  })
}

export function restoreEmbedded(directory: string, file: string): Promise<CountedRows> {
  const folder = embeddedFolder(directory)
  return asOperatorError(() => restoreDatabase({ folder, file, probe }))
}
