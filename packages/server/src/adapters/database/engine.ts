import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { OperatorError } from '../../shared/app-error.ts'
import type { ReplicaLock } from './postgres/replica-lock.ts'

export interface Engine {
  kind: 'embedded' | 'postgres'
  adapter: SqlDriverAdapterFactory
  /** For write batches, leases and readiness. Requests cannot take all its connections. */
  session: SqlSession
  /** For requests, and for background loops that may wait. */
  requestSession: SqlSession
  lock?: ReplicaLock
  writesClosed(): boolean
  /** True if even the writes that end begun work are rejected. Implies `writesClosed`. */
  reserveClosed(): boolean
  checks(): Record<string, boolean>
  /** The use of the connection pools. Undefined for the embedded database, which has none. */
  connections(): { inUse: number; waiting: number; most: number } | undefined
  /** The error about damaged files for the operator. Undefined unless a statement has failed because of them. */
  damage?(): Promise<OperatorError> | undefined
  /** Logs damage from now on. Before, it ends the start. */
  reportDamage?(): void
  /** Adds the way out to a description of damage. Embedded database only. */
  describeDamage?(message: string): Promise<OperatorError>
  /** Starts background upkeep. Call after the migrations. */
  startUpkeep?(statementCount: () => number): void
  /** Writes a consistent copy into one file. Embedded database only. */
  backup?: (file: string) => Promise<void>
  close(): Promise<void>
}
