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

export async function openEmbedded(
  options: EmbeddedPostgresOptions & { backupDir?: string | undefined },
): Promise<Engine> {
  const { isDiskLow, isReserveUsed, ...database } = await openEmbeddedPostgres(options).catch(
    async (error: unknown) => {
      throw error instanceof DamagedDatabaseError ? await describeDamage(error, options) : asOperator(error)
    },
  )
  const checks = () => ({ disk: !isDiskLow() })
  const closed = { writesClosed: isDiskLow, reserveClosed: isReserveUsed }
  return { kind: 'embedded', ...database, ...closed, checks, connections: () => undefined }
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
