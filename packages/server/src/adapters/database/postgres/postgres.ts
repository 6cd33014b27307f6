import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlQueries, SqlSession } from '@stet/embedded-postgres/sql-session'
import type pg from 'pg'
import type { Engine } from '../engine.ts'
import { Connection, SharedPool, watchConnections } from './postgres-pool.ts'
import { ReplicaLock, type ReplicaLockOptions } from './replica-lock.ts'

interface Sharing {
  sharing: 'none' | 'replicas' | 'all'
}

/** Creates the pool, which connects on first use. Does not take the replica lock yet. */
export function openPostgres(options: ReplicaLockOptions & Sharing & { url: string }): Engine {
  const connection = {
    connectionString: options.url,
    application_name: 'stet',
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    silenceMs: options.silenceMs,
  }
  const isShared = options.sharing === 'replicas'
  const lock =
    options.sharing === 'all' ? undefined : new ReplicaLock(() => new Connection(connection), { ...options, isShared })
  const pool = new SharedPool({
    ...connection,
    // Well below the 100 connections that PostgreSQL allows by default.
    max: 16,
    connectionTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    // The server's statements hold locks for milliseconds. A longer wait means that another program holds the lock.
    lock_timeout: 5_000,
  })
  // The pool replaces broken idle connections. An unhandled error event would end the process.
  pool.on('error', (error) => options.log.warn('database.connection-lost', { reason: error.message }))
  const stopWatching = watchConnections(pool, connection, options.log)
  return {
    kind: 'postgres',
    // The adapter depends on a second copy of pg's types.
    adapter: new PrismaPg(pool as unknown as ConstructorParameters<typeof PrismaPg>[0]),
    session: poolSession(pool),
    writesClosed: () => false,
    checks: () => (lock === undefined || isShared ? {} : { onlyReplica: lock.isConfirmed() }),
    connections: () => pool.use(),
    ...(lock && { lock }),
    async close() {
      stopWatching()
      await pool.end()
      await lock?.release()
    },
  }
}

export function poolSession(pool: pg.Pool): SqlSession {
  const pooled = pgQueries(pool)
  const transaction: SqlSession['transaction'] = async (work) => {
    const client = await pool.connect()
    let broken: Error | undefined
    // The connection may break between two statements. An unhandled error event would end the process.
    const onBroken = (error: Error) => {
      broken = error
    }
    client.on('error', onBroken)
    try {
      await client.query('BEGIN')
      const result = await work(pgQueries(client))
      const { command } = await client.query('COMMIT')
      if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: one of its statements had failed')
      return result
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure
      })
      throw error
    } finally {
      client.off('error', onBroken)
      client.release(broken)
    }
  }
  return {
    ...pooled,
    transaction,
    async batch(statements) {
      const [only, ...others] = statements
      if (only && others.length === 0) return [(await pooled.query(only.sql, only.params)).rows]
      return transaction(async (queries) => {
        const results: Record<string, unknown>[][] = []
        for (const { sql, params } of statements) results.push((await queries.query(sql, params)).rows)
        return results
      })
    },
  }
}

function pgQueries(handle: pg.Pool | pg.PoolClient): SqlQueries {
  return {
    async query(sql, params = []) {
      const { rows, rowCount } = await handle.query<Record<string, unknown>>(sql, [...params])
      return { rows, affectedRows: rowCount ?? 0 }
    },
    async script(sql) {
      await handle.query(sql)
    },
  }
}
