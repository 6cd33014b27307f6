import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { ReplicaLock } from './postgres/replica-lock.ts'

export interface Engine {
  kind: 'embedded' | 'postgres'
  adapter: SqlDriverAdapterFactory
  /** Runs plain SQL for migrations, the write batch and upkeep. */
  session: SqlSession
  /** Present for a PostgreSQL that only one server may use at a time. */
  lock?: ReplicaLock
  /** True while writes are rejected. */
  writesClosed(): boolean
  /** Additional readiness results by check name; true means passed. */
  checks(): Record<string, boolean>
  /** Call after the migrations, because upkeep needs the schema. */
  startUpkeep(statementCount: () => number): void
  /** Writes a consistent copy into one file. Embedded database only. */
  backup?: (file: string) => Promise<void>
  close(): Promise<void>
}
