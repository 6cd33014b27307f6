import { describe, expect, it, onTestFinished } from 'vitest'
import { createPool, openPostgres, poolSession } from '../../src/adapters/database/postgres/postgres.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { isSkippedWithoutServer } from '../support/database-server.ts'
import { silent } from '../support/shared-logs.ts'
import { testDatabase } from '../support/test-database.ts'

describe.skipIf(isSkippedWithoutServer('the connection pool'))('connection pool', () => {
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
    const pool = createPool({ connectionString: database.databaseUrl, silenceMs: 60_000 }, 1)
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
