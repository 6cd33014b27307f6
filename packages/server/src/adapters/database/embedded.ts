import { dirname } from 'node:path'
import {
  DamagedDatabaseError,
  type DatabaseFolder,
  EmbeddedPostgresError,
  type EmbeddedPostgresOptions,
  newestSnapshot,
  openEmbeddedPostgres,
} from '@stet/embedded-postgres'
import { OperatorError } from '../../shared/app-error.ts'
import type { Engine } from './engine.ts'

interface EmbeddedOptions extends Omit<EmbeddedPostgresOptions, 'onDamage'> {
  backupDir?: string | undefined
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const { log } = options
  const damage: { found?: Promise<OperatorError> } = {}
  let reports = false
  // At a start, the same message ends the process.
  const report = () => {
    if (reports) void damage.found?.then(({ message }) => log.error('database.damaged', { reason: message }))
  }
  const onDamage = (error: DamagedDatabaseError) => {
    damage.found = describeDamage(error, options)
    report()
  }
  const opening = openEmbeddedPostgres({ ...options, onDamage })
  const { isDiskLow, isReserveUsed, ...database } = await opening.catch(async (error: unknown) => {
    throw error instanceof DamagedDatabaseError ? await describeDamage(error, options) : asOperator(error)
  })
  return {
    kind: 'embedded',
    ...database,
    requestSession: database.session,
    writesClosed: isDiskLow,
    reserveClosed: isReserveUsed,
    checks: () => ({ disk: !isDiskLow(), intact: damage.found === undefined }),
    connections: () => undefined,
    damage: () => damage.found,
    describeDamage: (message) => describeDamage({ message, kind: 'files' }, options),
    reportDamage() {
      reports = true
      report()
    },
  }
}

/** The owner is part of names on disk, such as the lock `stet-lock`. */
export function embeddedFolder(path: string): DatabaseFolder {
  return { path, owner: 'stet' }
}

export function asOperatorError<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw asOperator(error)
  })
}

function asOperator(error: unknown): unknown {
  return error instanceof EmbeddedPostgresError ? new OperatorError(error.message) : error
}

interface Place {
  folder: DatabaseFolder
  backupDir?: string | undefined
}

type Damage = Pick<DamagedDatabaseError, 'message' | 'kind'> & { lostUpTo?: string | undefined }

/** Adds the way out to a description of damage: the backup to restore, and the way out without one. */
async function describeDamage({ message, lostUpTo, kind }: Damage, place: Place): Promise<OperatorError> {
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
  return new OperatorError(`${message}. Keep a copy of ${folder.path}. Then ${restore}${withoutBackup}`)
}
