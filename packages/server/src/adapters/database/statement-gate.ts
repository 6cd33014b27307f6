import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils'
import { AppError } from '../../shared/app-error.ts'
import { codeOf, databaseAway, diskFull, translateDatabaseError, translating } from './database-error.ts'
import type { SqlQueries, SqlSession } from './sql-session.ts'

/** Every SQL statement passes here. It is counted; writes are refused while the disk is almost full. */
export interface StatementGate {
  pass(sql: string): void
  /** Our refusal that Prisma wrapped, or any other error as it is. */
  unwrap(error: unknown): unknown
  /** Statements sent since the start. */
  count(): number
}

const WRITES = /^\s*(INSERT|UPDATE|DELETE|WITH\b[\s\S]*?\b(?:INSERT|UPDATE|DELETE)\b)/i

function isWrite(sql: string): boolean {
  return WRITES.test(sql)
}

/** A gate that refuses writes while `writesClosed` returns true. */
export function statementGate(writesClosed: () => boolean = () => false): StatementGate {
  let sent = 0
  return {
    pass(sql) {
      if (writesClosed() && isWrite(sql)) throw diskFull()
      sent += 1
    },
    unwrap(error) {
      // Of an adapter's error, Prisma keeps only the code.
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

/**
 * Prisma's way to the database with each statement sent through `gate` and connection failures translated.
 * @param mayWrite rejects when this process must not write now; asked before each write and each commit.
 */
export function gatedAdapter(
  factory: SqlDriverAdapterFactory,
  gate: StatementGate,
  mayWrite: () => Promise<void>,
): SqlDriverAdapterFactory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await translating(() => factory.connect())
      return derive<SqlDriverAdapter>(adapter, {
        ...gatedQueryable(adapter, gate, mayWrite),
        executeScript: (script) => translating(() => adapter.executeScript(script)),
        startTransaction: (level) =>
          translating(async () => gatedTransaction(await adapter.startTransaction(level), gate, mayWrite)),
      })
    },
  }
}

function gatedTransaction(transaction: Transaction, gate: StatementGate, mayWrite: () => Promise<void>): Transaction {
  const gated = gatedQueryable(transaction, gate, mayWrite)
  return derive<Transaction>(transaction, {
    ...gated,
    async executeRaw(query) {
      if (query.sql === 'COMMIT') {
        await mayWrite().catch(async (refusal: unknown) => {
          // Prisma returns the connection to the pool without a rollback.
          await transaction.executeRaw({ ...query, sql: 'ROLLBACK' })
          throw refusal
        })
      }
      return gated.executeRaw(query)
    },
    commit: () => translating(() => transaction.commit()),
    rollback: () => translating(() => transaction.rollback()),
  })
}

function gatedQueryable(
  queryable: SqlQueryable,
  gate: StatementGate,
  mayWrite: () => Promise<void>,
): Pick<SqlQueryable, 'queryRaw' | 'executeRaw'> {
  const pass = async (sql: string) => {
    gate.pass(sql)
    if (isWrite(sql)) await mayWrite()
  }
  return {
    queryRaw: (query) =>
      translating(async () => {
        await pass(query.sql)
        return queryable.queryRaw(query)
      }),
    executeRaw: (query) =>
      translating(async () => {
        await pass(query.sql)
        return queryable.executeRaw(query)
      }),
  }
}

/** `base` with some members replaced; the others, optional ones too, are inherited. */
function derive<T extends object>(base: T, replaced: Partial<T>): T {
  return Object.assign(Object.create(base) as T, replaced)
}
