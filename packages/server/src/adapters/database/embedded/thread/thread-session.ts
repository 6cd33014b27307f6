import type { SqlQueries, SqlSession } from '../../sql-session.ts'
import type { DatabaseThread } from './database-thread.ts'
import { withOwnBytes } from './transfer.ts'

/** Plain SQL on the database of a thread. */
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
        // Nothing when it was the COMMIT that failed.
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
