import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import type { ReplicaLock } from './postgres/replica-lock.ts'
import type { SqlSession } from './sql-session.ts'

/** A database that has been opened, whichever kind it is. */
export interface Engine {
  kind: 'embedded' | 'postgres'
  /** Prisma's way in. */
  adapter: SqlDriverAdapterFactory
  /** Ours, for statements that Prisma would make slower or could not make. */
  session: SqlSession
  /** PostgreSQL that only one server may use at a time. */
  lock?: ReplicaLock
  /** Whether writing statements are refused at present. */
  writesClosed(): boolean
  /** Checks beside the answer to a query, by name; true = passed. */
  checks(): Record<string, boolean>
  /** Starts the work that needs the schema; after the migrations. */
  startUpkeep(statementCount: () => number): void
  /** Writes a consistent copy of the database into one file; embedded only. */
  backup?: (file: string) => Promise<void>
  close(): Promise<void>
}
