import type { SqlDriverAdapterFactory, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils'
import type { DatabaseThread } from './database-thread.ts'
import { withOwnBytes } from './transfer.ts'

const INFO = { provider: 'postgres', adapterName: 'pglite-prisma-adapter' } as const

/**
 * Prisma's way to the database of a thread. The adapter itself works in the thread; its transactions do not: that of
 * pglite-prisma-adapter 0.7.2 swallows the failure of a COMMIT. One session is serial: isolation levels change nothing.
 */
export function threadAdapter(thread: DatabaseThread): SqlDriverAdapterFactory {
  return {
    ...INFO,
    connect: async () => ({
      ...threadQueryable(thread),
      executeScript: (sql) => thread.ask('script', { sql }),
      startTransaction: async () => startTransaction(thread),
      getConnectionInfo: () => ({ supportsRelationJoins: true }),
      dispose: () => Promise.resolve(),
    }),
  }
}

async function startTransaction(thread: DatabaseThread): Promise<Transaction> {
  const transaction = await thread.ask('begin', undefined)
  return {
    ...threadQueryable(thread, transaction),
    // Prisma asks for COMMIT and ROLLBACK by method, and for no query beside.
    options: { usePhantomQuery: true },
    commit: () => thread.ask('commit', transaction, { isFirst: true }),
    rollback: () => thread.ask('rollback', transaction, { isFirst: true }),
  }
}

function threadQueryable(thread: DatabaseThread, transaction?: number): SqlQueryable {
  const options = { isFirst: transaction !== undefined }
  return {
    ...INFO,
    queryRaw: (query) =>
      thread.ask('prismaQuery', { query: { ...query, args: withOwnBytes(query.args) }, transaction }, options),
    executeRaw: (query) =>
      thread.ask('prismaExecute', { query: { ...query, args: withOwnBytes(query.args) }, transaction }, options),
  }
}
