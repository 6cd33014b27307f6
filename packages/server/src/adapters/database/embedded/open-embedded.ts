import { type DatabaseFolder, EmbeddedPostgresError, openEmbeddedPostgres } from '@stet/embedded-postgres'
import { OperatorError } from '../../../shared/app-error.ts'
import type { Logger } from '../../../shared/logger.ts'
import type { Engine } from '../engine.ts'

export interface EmbeddedOptions {
  directory: string
  /** A database directory made at build time, which a first start copies if present. */
  template: string
  /** The program of the thread that the database works in. */
  threadFile: string
  /** Free space under which writes are refused. Bytes. */
  diskFloorBytes?: number
  log: Logger
}

/** The embedded database as an engine. @throws OperatorError */
export async function openEmbedded({ directory, ...options }: EmbeddedOptions): Promise<Engine> {
  const folder = embeddedFolder(directory)
  const { isDiskLow, ...database } = await asOperatorError(() => openEmbeddedPostgres({ ...options, folder }))
  return { kind: 'embedded', ...database, writesClosed: isDiskLow, checks: () => ({ disk: !isDiskLow() }) }
}

/** The owner is part of names on disk, such as the lock `stet-lock`. */
export function embeddedFolder(path: string): DatabaseFolder {
  return { path, owner: 'stet' }
}

/** Runs `work`. Its failures for the operator become stet's own. */
export function asOperatorError<T>(work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw error instanceof EmbeddedPostgresError ? new OperatorError(error.message) : error
  })
}
