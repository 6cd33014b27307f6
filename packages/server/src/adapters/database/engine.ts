import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import type { ReplicaLock } from './postgres/replica-lock.ts'

/** An open database of either kind. */
export interface Engine {
  kind: 'embedded' | 'postgres'
  adapter: SqlDriverAdapterFactory
  /** For plain SQL: migrations, the write batch and upkeep. */
  session: SqlSession
  /** PostgreSQL that only one server may use at a time. */
  lock?: ReplicaLock
  /** Whether writing statements are refused at present. */
  writesClosed(): boolean
  /** Results of checks in addition to the query, by name; true = passed. */
  checks(): Record<string, boolean>
  /** Starts the work that needs the schema; after the migrations. */
  startUpkeep(statementCount: () => number): void
  /** Writes a consistent copy of the database into one file; embedded only. */
  backup?: (file: string) => Promise<void>
  close(): Promise<void>
}
