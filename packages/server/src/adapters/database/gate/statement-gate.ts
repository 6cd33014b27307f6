import { AppError } from '../../../shared/app-error.ts'
import type { SqlQueries, SqlSession } from '../sql-session.ts'
import { codeOf } from '../unique-violation.ts'
import { databaseAway, diskFull, translateDatabaseError, translating } from './database-error.ts'

/** Every SQL statement passes here: it is counted, and a writing one is refused while writes are closed. */
export interface StatementGate {
  pass(sql: string): void
  /** The refusal behind an error that Prisma made of ours, or the error itself when it is another one. */
  unwrap(error: unknown): unknown
  /** Statements sent since the start. */
  count(): number
}

const WRITES = /^\s*(INSERT|UPDATE|DELETE|WITH\b[\s\S]*?\b(?:INSERT|UPDATE|DELETE)\b)/i

export function isWrite(sql: string): boolean {
  return WRITES.test(sql)
}

/** A gate that refuses writes for as long as `writesClosed` says so, because there is no room for them. */
export function statementGate(writesClosed: () => boolean = () => false): StatementGate {
  let sent = 0
  return {
    pass(sql) {
      if (writesClosed() && isWrite(sql)) throw diskFull()
      sent += 1
    },
    unwrap(error) {
      // Prisma keeps the code of an error that comes from below, and nothing else.
      if (error instanceof AppError || codeOf(error) !== 'ServiceUnavailableError') return translateDatabaseError(error)
      return writesClosed() ? diskFull() : databaseAway(error)
    },
    count: () => sent,
  }
}

/** The session with each statement sent through `gate` and connection failures translated. */
export function gatedSession(session: SqlSession, gate: StatementGate): SqlSession {
  return {
    ...gatedQueries(session, gate),
    batch: (statements) =>
      translating(async () => {
        for (const { sql } of statements) gate.pass(sql)
        return session.batch(statements)
      }),
    transaction: (work) => translating(() => session.transaction((queries) => work(gatedQueries(queries, gate)))),
  }
}

function gatedQueries(queries: SqlQueries, gate: StatementGate): SqlQueries {
  return {
    query: (sql, params) =>
      translating(async () => {
        gate.pass(sql)
        return queries.query(sql, params)
      }),
    script: (sql) =>
      translating(async () => {
        gate.pass(sql)
        await queries.script(sql)
      }),
  }
}
