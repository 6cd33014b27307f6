import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils'
import { translating } from './database-error.ts'
import type { StatementGate } from './statement-gate.ts'

/** Prisma's way to the database with each statement sent through `gate` and connection failures translated. */
export function gatedAdapter(factory: SqlDriverAdapterFactory, gate: StatementGate): SqlDriverAdapterFactory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await translating(() => factory.connect())
      return derive<SqlDriverAdapter>(adapter, {
        ...gatedQueryable(adapter, gate),
        executeScript: (script) => translating(() => adapter.executeScript(script)),
        startTransaction: (level) =>
          translating(async () => gatedTransaction(await adapter.startTransaction(level), gate)),
      })
    },
  }
}

function gatedTransaction(transaction: Transaction, gate: StatementGate): Transaction {
  return derive<Transaction>(transaction, {
    ...gatedQueryable(transaction, gate),
    commit: () => translating(() => transaction.commit()),
    rollback: () => translating(() => transaction.rollback()),
  })
}

function gatedQueryable(queryable: SqlQueryable, gate: StatementGate): Pick<SqlQueryable, 'queryRaw' | 'executeRaw'> {
  return {
    queryRaw: (query) =>
      translating(async () => {
        gate.pass(query.sql)
        return queryable.queryRaw(query)
      }),
    executeRaw: (query) =>
      translating(async () => {
        gate.pass(query.sql)
        return queryable.executeRaw(query)
      }),
  }
}

/** `base` with some members replaced; the others, optional ones too, are inherited. */
function derive<T extends object>(base: T, replaced: Partial<T>): T {
  return Object.assign(Object.create(base) as T, replaced)
}
