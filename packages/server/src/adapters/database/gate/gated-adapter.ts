import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils'
import { translating } from './database-error.ts'
import { isWrite, type StatementGate } from './statement-gate.ts'

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
          // Prisma gives the connection back as it is.
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
