import type { PGlite } from '@electric-sql/pglite'
import { createPipeline } from '../protocol/pipeline.ts'
import type { SqlQueries, SqlSession } from '../sql-session.ts'

export function pgliteSession(pglite: PGlite): SqlSession {
  const pipeline = createPipeline(pglite)
  return {
    ...pgliteQueries(pglite),
    batch: pipeline.run,
    transaction: (work) => pglite.transaction((transaction) => work(pgliteQueries(transaction))),
  }
}

export function pgliteQueries(handle: Pick<PGlite, 'query' | 'exec'>): SqlQueries {
  return {
    async query(sql, params = []) {
      const { rows, affectedRows } = await handle.query<Record<string, unknown>>(sql, [...params])
      return { rows, affectedRows: affectedRows ?? 0 }
    },
    async script(sql) {
      await handle.exec(sql)
    },
  }
}
