import { type DatabaseFolder, EmbeddedPostgresError, openEmbeddedPostgres } from '@stet/embedded-postgres'
import { OperatorError } from '../../../shared/app-error.ts'
import type { Logger } from '../../../shared/logger.ts'
import type { Engine } from '../engine.ts'

export interface EmbeddedOptions {
  directory: string
  /** An optional database directory from the build. A first start copies it. */
  template: string
  /** The database thread's program. */
  threadFile: string
  /** Free bytes below which writes are rejected. */
  diskFloorBytes?: number
  log: Logger
}

/** @throws OperatorError */
export async function openEmbedded({ directory, ...options }: EmbeddedOptions): Promise<Engine> {
  const folder = embeddedFolder(directory)
  const { isDiskLow, ...database } = await asOperatorError(() => openEmbeddedPostgres({ ...options, folder }))
  return { kind: 'embedded', ...database, writesClosed: isDiskLow, checks: () => ({ disk: !isDiskLow() }) }
}

/** The owner is part of names on disk, such as the lock `stet-lock`. */
export function embeddedFolder(path: string): DatabaseFolder {
  return { path, owner: 'stet' }
}

/** Translates the package's operator errors into stet's own. */
export function asOperatorError<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw error instanceof EmbeddedPostgresError ? new OperatorError(error.message) : error
  })
}
