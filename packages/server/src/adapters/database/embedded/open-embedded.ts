import {
  DamagedDatabaseError,
  type DatabaseFolder,
  EmbeddedPostgresError,
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
} from '@stet/embedded-postgres'
import { OperatorError } from '../../../shared/app-error.ts'
import type { Engine } from '../engine.ts'
import { describeDamage } from './describe-damage.ts'

interface EmbeddedOptions extends Omit<EmbeddedPostgresOptions, 'onDamage'> {
  backupDir?: string | undefined
}

export async function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const { log } = options
  const damage: { found?: Promise<OperatorError> } = {}
  let reports = false
  const onDamage = (error: DamagedDatabaseError) => {
    damage.found = describeDamage(error, options)
    // At a start, the same message ends the process.
    if (reports) void damage.found.then(({ message }) => log.error('database.damaged', { reason: message }))
  }
  const opening = openEmbeddedPostgres({ ...options, onDamage })
  const { isDiskLow, isReserveUsed, ...database } = await opening.catch(async (error: unknown) => {
    throw error instanceof DamagedDatabaseError ? await describeDamage(error, options) : asOperator(error)
  })
  return {
    kind: 'embedded',
    ...database,
    writesClosed: isDiskLow,
    reserveClosed: isReserveUsed,
    checks: () => ({ disk: !isDiskLow(), intact: damage.found === undefined }),
    connections: () => undefined,
    damage: () => damage.found,
    describeDamage: (message) => describeDamage({ message, kind: 'files' }, options),
    reportDamage() {
      reports = true
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
