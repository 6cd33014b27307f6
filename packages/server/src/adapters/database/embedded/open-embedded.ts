import { type DatabaseFolder, EmbeddedPostgresError, openEmbeddedPostgres } from '@stet/embedded-postgres'
import { OperatorError } from '../../../shared/app-error.ts'
import type { Engine } from '../engine.ts'

export async function openEmbedded(options: Parameters<typeof openEmbeddedPostgres>[0]): Promise<Engine> {
  const { isDiskLow, isReserveUsed, ...database } = await asOperatorError(() => openEmbeddedPostgres(options))
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
    throw error instanceof EmbeddedPostgresError ? new OperatorError(error.message) : error
  })
}
