import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openPostgres, poolSession } from '../../src/adapters/database/postgres/postgres.ts'
import { SharedPool } from '../../src/adapters/database/postgres/postgres-pool.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer } from '../support/database-server.ts'
import { silent } from '../support/shared-logs.ts'
import { testDatabase } from '../support/test-database.ts'

describe.skipIf(isSkippedWithoutServer('the connection pool'))('connection pool', () => {
  it('is shared: stuck statements leave a connection for every other statement', async () => {
    const database = await testDatabase()
    const connectionString = database.databaseUrl
    const pool = new SharedPool({
      connectionString,
      max: 16,
      connectionTimeoutMillis: 60_000,
      silenceMs: 60_000,
    })
    // `end` does not wait for its connections to close, and dropping the database breaks those.
    pool.on('error', () => undefined)
    const other = new pg.Client({ connectionString })
    await other.connect()
    await other.query('SELECT pg_advisory_lock(7)')
    const stuck = ['a', 'b', 'c'].flatMap((name) =>
      Array.from({ length: 20 }, () => pool.query(`SELECT pg_advisory_lock_shared(7) AS ${name}`)),
    )
    let ended = 0
    for (const statement of stuck) void statement.then(() => (ended += 1))
    const waiting = `SELECT count(*)::int AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`
    // Each kind of statement gets half of the free connections: 8 + 4 + 2.
    await expect.poll(async () => (await other.query(waiting)).rows[0]?.n).toBe(14)
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
    expect(ended).toBe(0)

    await other.query('SELECT pg_advisory_unlock(7)')
    await Promise.all(stuck)
    await other.end()
    await pool.end()
    await database.close()
  })

  it('gets a batch in one round trip', async () => {
    const database = await testDatabase()
    onTestFinished(() => database.close())
    const proxy = await startDatabaseProxy(database.databaseUrl ?? '')
    onTestFinished(() => proxy.goAway())
    const { session, close } = openPostgres({ url: proxy.url, silenceMs: 60_000, log: silent, sharing: 'all' })
    onTestFinished(close)
    await session.query('SELECT 1')
    proxy.holdAnswersUntil('COMMIT')
    const statements = [1, 2, 3].map((number) => ({ sql: 'SELECT $1::text AS number', params: [number] }))
    expect(await session.batch(statements)).toEqual([[{ number: '1' }], [{ number: '2' }], [{ number: '3' }]])
  })

  it('is not asked to roll back what it has rolled back itself', async () => {
    const database = await testDatabase()
    onTestFinished(() => database.close())
    const limits = { max: 1, connectionTimeoutMillis: 60_000, silenceMs: 60_000 }
    const pool = new SharedPool({ connectionString: database.databaseUrl, pipeline: true, ...limits })
    onTestFinished(() => pool.end())
    pool.on('error', () => undefined)
    const notices: (string | undefined)[] = []
    pool.on('connect', (client) => client.on('notice', ({ message }) => notices.push(message)))
    const divide = (by: number) => ({ sql: 'SELECT (1 / $1::int)::text AS quotient', params: [by] })
    const session = poolSession(pool)
    await expect(session.batch([divide(1), divide(0)])).rejects.toThrow('division by zero')
    await expect(
      session.transaction(async (queries) => void (await queries.query('SELECT 1 / $1::int', [0]))),
    ).rejects.toThrow('division by zero')
    expect(await session.batch([divide(1), divide(1)])).toEqual([[{ quotient: '1' }], [{ quotient: '1' }]])
    expect(notices).toEqual([])
  })
})
