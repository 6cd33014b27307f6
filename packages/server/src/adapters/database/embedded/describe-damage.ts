import { dirname } from 'node:path'
import { type DamagedDatabaseError, type DatabaseFolder, newestSnapshot } from '@stet/embedded-postgres'
import { OperatorError } from '../../../shared/app-error.ts'

interface Place {
  folder: DatabaseFolder
  backupDir?: string | undefined
}

type Damage = Pick<DamagedDatabaseError, 'message' | 'kind'> & { lostUpTo?: string | undefined }

/** Adds the way out to a description of damage: the backup to restore, and what is possible without one. */
export async function describeDamage({ message, lostUpTo, kind }: Damage, place: Place): Promise<OperatorError> {
  const { folder, backupDir } = place
  const snapshot = backupDir && (await newestSnapshot(backupDir, folder.owner))
  if (kind === 'unopened')
    return new OperatorError(snapshot ? `${message}. The newest snapshot is ${snapshot}` : message)
  const which = snapshot ? `the newest snapshot, ${snapshot}` : 'a backup'
  const restore = `restore ${which}, into another data folder with "stet-server restore"`
  if (kind === 'absent')
    return new OperatorError(
      `${message}: mount it, or ${restore}. For a new database, move encryption.key and admin.key out of ${dirname(folder.path)}`,
    )
  const withoutBackup = lostUpTo ? `, or set STET_ACCEPT_LOST_WRITES=${lostUpTo} to start without the later writes` : ''
  return new OperatorError(`${message}. Keep a copy of the folder. Then ${restore}${withoutBackup}`)
}
