import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlQueries, SqlSession, SqlStatement } from '@stet/embedded-postgres/sql-session'
import pg from 'pg'
import type { Engine } from '../engine.ts'
import { Connection, type ConnectionConfig, watchConnections } from './connection.ts'
import { ReplicaLock, type ReplicaLockOptions } from './replica-lock.ts'

interface Sharing {
  sharing: 'none' | 'replicas' | 'all'
}

/** Creates the pools, which connect on first use. Does not take the replica lock yet. */
export function openPostgres(options: ReplicaLockOptions & Sharing & { url: string }): Engine {
  const { log } = options
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
  // Requests that wait for a locked table may hold their whole pool. Write batches, leases and `/ready` have their own.
  const forRequests = createPool(connection, 12)
  const forServer = createPool(connection, 4)
  const pools = [forRequests, forServer]
  // A pool replaces broken idle connections. An unhandled error event would end the process.
  for (const pool of pools) pool.on('error', (error) => log.warn('database.connection-lost', { reason: error.message }))
  const stopWatching = watchConnections(pools, connection, log)
  const sumOf = (read: (pool: pg.Pool) => number) => pools.reduce((sum, pool) => sum + read(pool), 0)
  return {
    kind: 'postgres',
    adapter: new PrismaPg(forRequests),
    session: poolSession(forServer),
    requestSession: poolSession(forRequests),
    writesClosed: () => false,
    reserveClosed: () => false,
    checks: () => (lock === undefined || isShared ? {} : { onlyReplica: lock.isConfirmed() }),
    connections: () => ({
      inUse: sumOf((pool) => pool.totalCount - pool.idleCount),
      waiting: sumOf((pool) => pool.waitingCount),
      most: sumOf((pool) => pool.options.max),
    }),
    ...(lock && { lock }),
    async close() {
      stopWatching()
      for (const pool of pools) await pool.end()
      await lock?.release()
    },
  }
}

/** @param max both pools together stay well below the 100 connections that PostgreSQL allows by default. */
export function createPool(connection: ConnectionConfig, max: number): pg.Pool {
  return new pg.Pool({
    ...connection,
    Client: Connection as unknown as new () => pg.ClientBase,
    max,
    connectionTimeoutMillis: 30_000,
    statement_timeout: 30_000,
    // The server's statements hold locks for milliseconds. A longer wait means that another program holds the lock.
    lock_timeout: 5_000,
    // A batch is sent as a whole. All other code awaits each statement.
    pipeline: true,
  })
}

export function poolSession(pool: pg.Pool): SqlSession {
  const pooled = pgQueries(pool)
  const inTransaction = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    let broken: Error | undefined
    // The connection may break between two statements. An unhandled error event would end the process.
    const onBroken = (error: Error) => {
      broken = error
    }
    client.on('error', onBroken)
    try {
      return await work(client)
    } catch (error) {
      if (client.getTransactionStatus() === 'I') throw error
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
    transaction: (work) =>
      inTransaction(async (client) => {
        await client.query('BEGIN')
        const result = await work(pgQueries(client))
        requireCommit(await client.query('COMMIT'))
        return result
      }),
    async batch(statements) {
      const [only, ...others] = statements
      if (only && others.length === 0) return [(await pooled.query(only.sql, only.params)).rows]
      return inTransaction((client) => sendTogether(client, statements))
    },
  }
}

/** Takes one round trip. After a failed statement PostgreSQL rejects the others and answers COMMIT with a rollback. */
async function sendTogether(
  client: pg.PoolClient,
  statements: readonly SqlStatement[],
): Promise<Record<string, unknown>[][]> {
  const begun = client.query('BEGIN')
  const sent = statements.map(({ sql, params }) => client.query<Record<string, unknown>>(sql, [...params]))
  const committed = client.query('COMMIT')
  // Rejects with the first failure, but only after all answers, because the connection is used again.
  await Promise.allSettled([begun, ...sent, committed])
  await begun
  const results = await Promise.all(sent)
  requireCommit(await committed)
  return results.map(({ rows }) => rows)
}

function requireCommit({ command }: pg.QueryResult): void {
  if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: one of its statements had failed')
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
