/** Works on a closed embedded database. This file loads PGlite, which a server loads only in its database thread. */
import { dirname, join, resolve } from 'node:path'
import { backupDatabase, makeDatabaseTemplate, restoreDatabase } from '@stet/embedded-postgres/direct'
import { makeFolder } from '../../../shared/make-folder.ts'
import { migrate } from '../migrate.ts'
import { unpackFirstFormat } from './first-backup-format.ts'
import { asOperatorError, embeddedFolder } from './open-embedded.ts'

const PROBE = 'SELECT count(*) FROM _prisma_migrations'

export function makeTemplate(packageRoot: string, file: string): Promise<void> {
  return makeDatabaseTemplate(file, (session) => migrate(session, join(packageRoot, 'prisma', 'migrations')))
}

export function backupEmbedded(directory: string, file: string): Promise<void> {
  return asOperatorError(async () => {
    makeFolder(dirname(resolve(file)))
    await backupDatabase({ folder: embeddedFolder(directory), file, probe: PROBE })
  })
}

export function restoreEmbedded(directory: string, file: string): Promise<void> {
  const folder = embeddedFolder(directory)
  return asOperatorError(() => restoreDatabase({ folder, file, probe: PROBE, unpackOther: unpackFirstFormat }))
}
