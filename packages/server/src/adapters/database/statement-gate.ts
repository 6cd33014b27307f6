import type {
  SqlDriverAdapter,
  SqlDriverAdapterFactory,
  SqlQuery,
  SqlQueryable,
  Transaction,
} from '@prisma/driver-adapter-utils'
import type { SqlQueries, SqlSession } from '@stet/embedded-postgres/sql-session'
import { AppError } from '../../shared/app-error.ts'
import { databaseAway, diskFull, translateDatabaseError, translating } from './database-error.ts'
import type { Engine } from './engine.ts'

export type StatementGate = ReturnType<typeof statementGate>

const reserveMark = '/* reserve */'
const writes = /^(?:\/\* reserve \*\/)?\s*(INSERT|UPDATE|DELETE|WITH\b[\s\S]*?\b(?:INSERT|UPDATE|DELETE)\b)/i

/**
 * Marks a write that ends work which has begun, such as a paid run. The write may use the part of the disk that other
 * writes must leave free.
 */
export function usesReserve(sql: string): string {
  return reserveMark + sql
}

/** Wraps an AppError, because Prisma replaces errors that have a `code`. */
class CarriedRefusal extends Error {
  readonly refusal: AppError

  constructor(refusal: AppError) {
    super(refusal.message)
    this.refusal = refusal
  }
}

async function carrying<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await translating(work)
  } catch (error) {
    throw error instanceof AppError ? new CarriedRefusal(error) : error
  }
}

/** Throws the AppError inside a CarriedRefusal, or the translated error. @param error thrown by Prisma Client. */
export function throwUncarried(error: unknown): never {
  throw error instanceof CarriedRefusal ? error.refusal : translateDatabaseError(error)
}

type GatedEngine = Pick<Engine, 'writesClosed' | 'reserveClosed' | 'lock'>

/** Counts SQL statements, and rejects writes while the disk is almost full. */
export function statementGate({ writesClosed, reserveClosed, lock }: GatedEngine) {
  let sent = 0
  return {
    pass(sql: string) {
      if (writesClosed() && writes.test(sql) && (!sql.startsWith(reserveMark) || reserveClosed())) throw diskFull()
      sent += 1
    },
    /** Rejects if another server may have the lock. A write could make that server's cache stale. */
    async confirmLock() {
      if (lock && !(await lock.confirm())) throw databaseAway()
    },
    count: () => sent,
  }
}

export function gatedSession(session: SqlSession, gate: StatementGate): SqlSession {
  return {
    ...gatedQueries(session, gate),
    async batch(statements) {
      try {
        for (const { sql } of statements) gate.pass(sql)
        return await session.batch(statements)
      } catch (error) {
        throw translateDatabaseError(error)
      }
    },
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

/** Confirms the lock before each write and commit. Sessions skip this, because a run's epoch protects its rows. */
export function gatedAdapter(factory: SqlDriverAdapterFactory, gate: StatementGate): SqlDriverAdapterFactory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await carrying(() => factory.connect())
      return derive<SqlDriverAdapter>(adapter, {
        ...gatedQueryable(adapter, gate),
        startTransaction: (level) =>
          carrying(async () => gatedTransaction(await adapter.startTransaction(level), gate)),
      })
    },
  }
}

function gatedTransaction(transaction: Transaction, gate: StatementGate): Transaction {
  const gated = gatedQueryable(transaction, gate)
  return derive<Transaction>(transaction, {
    ...gated,
    async executeRaw(query) {
      if (query.sql === 'COMMIT') {
        await carrying(gate.confirmLock).catch(async (refusal: unknown) => {
          // Without the rollback, Prisma would return the connection to the pool inside an open transaction.
          await transaction.executeRaw({ ...query, sql: 'ROLLBACK' })
          throw refusal
        })
      }
      return gated.executeRaw(query)
    },
    commit: () => carrying(() => transaction.commit()),
    rollback: () => carrying(() => transaction.rollback()),
  })
}

function gatedQueryable(queryable: SqlQueryable, gate: StatementGate) {
  const passed = <T>({ sql }: SqlQuery, send: () => Promise<T>) =>
    carrying(async () => {
      gate.pass(sql)
      if (writes.test(sql)) await gate.confirmLock()
      return send()
    })
  return {
    queryRaw: (query: SqlQuery) => passed(query, () => queryable.queryRaw(query)),
    executeRaw: (query: SqlQuery) => passed(query, () => queryable.executeRaw(query)),
  }
}

function derive<T extends object>(base: T, replaced: Partial<T>): T {
  return Object.assign(Object.create(base) as T, replaced)
}
