import type { SqlQuery, SqlResultSet } from '@prisma/driver-adapter-utils'
import type { BackupPiece } from '../backup/serve-backups.ts'
import type { DatabaseFolder } from '../directory/database-folder.ts'
import type { SqlResult, SqlStatement } from '../sql-session.ts'
import type { CarriedError } from './carried-error.ts'
import type { CompiledPglite } from './compiled-pglite.ts'

export interface OpenInput {
  folder: DatabaseFolder
  /** A file from the build, made by `makeDatabaseTemplate`. A first start unpacks it if it exists. */
  template: string
  /** True if there was a database, so that an empty folder means a lost or unmounted one. */
  mustExist?: boolean | undefined
  /** The position of `DamagedDatabaseError.lostUpTo` up to which lost writes are accepted. */
  acceptedLoss?: string | undefined
}

interface Within {
  transaction?: number | undefined
}

/** Requests to the database thread. Inputs and outputs must survive a structured clone. */
export interface DatabaseTasks {
  open(input: OpenInput & { program: CompiledPglite }): string | undefined
  query(input: SqlStatement & Within): SqlResult
  script(input: { sql: string } & Within): void
  batch(input: readonly SqlStatement[]): Record<string, unknown>[][]
  prismaQuery(input: { query: SqlQuery } & Within): SqlResultSet
  prismaExecute(input: { query: SqlQuery } & Within): number
  /** Returns the transaction's number once it owns the session. */
  begin(input: undefined): number
  commit(input: number): void
  rollback(input: number): void
  backup(input: { file: string }): void
  /** Starts a backup if none is being read. Undefined ends it. */
  readBackup(input: undefined): BackupPiece | undefined
  /** Ends a backup that was not read to its end. */
  endBackup(input: undefined): void
  /** Returns immediately, unless a statement is executing. */
  ping(input: undefined): void
  close(input: undefined): void
}

export type TaskName = keyof DatabaseTasks
export type Input<Name extends TaskName> = Parameters<DatabaseTasks[Name]>[0]
export type Output<Name extends TaskName> = ReturnType<DatabaseTasks[Name]>

export interface Request {
  id: number
  task: TaskName
  input: unknown
}

export interface Answer {
  id: number
  output?: unknown
  error?: CarriedError
  syncs: number
}
