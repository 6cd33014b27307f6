import type { SqlDriverAdapterFactory, SqlQueryable, Transaction } from '@prisma/driver-adapter-utils'
import type { SqlQueries, SqlSession } from '../sql-session.ts'
import type { DatabaseThread } from './database-thread.ts'

const INFO = { provider: 'postgres', adapterName: 'pglite-prisma-adapter' } as const

export function threadSession(thread: DatabaseThread): SqlSession {
  return {
    ...threadQueries(thread),
    batch: (statements) =>
      thread.ask(
        'batch',
        statements.map(({ sql, params }) => ({ sql, params: withOwnBytes(params) })),
      ),
    async transaction(work) {
      const transaction = await thread.ask('begin', undefined)
      try {
        const result = await work(threadQueries(thread, transaction))
        await thread.ask('commit', transaction, { isFirst: true })
        return result
      } catch (error) {
        // If COMMIT failed, the transaction has already ended and this has no effect.
        await thread.ask('rollback', transaction, { isFirst: true }).catch(() => undefined)
        throw error
      }
    },
  }
}

function threadQueries(thread: DatabaseThread, transaction?: number): SqlQueries {
  const options = { isFirst: transaction !== undefined }
  return {
    query: (sql, params = []) => thread.ask('query', { sql, params: withOwnBytes(params), transaction }, options),
    script: (sql) => thread.ask('script', { sql, transaction }, options),
  }
}

/**
 * Transactions bypass the adapter, because pglite-prisma-adapter 0.7.2 swallows a failed COMMIT. Isolation levels have
 * no effect, because the single session is serial.
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
    // Prisma calls `commit` and `rollback` instead of sending queries for them.
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

/**
 * Copies the bytes into their own buffers. Structured clone copies a whole buffer, and Node's small buffers share one.
 */
function withOwnBytes(params: readonly unknown[]): unknown[] {
  return params.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value))
}
