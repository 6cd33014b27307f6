import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Database, DatabaseClient } from '../../src/adapters/database/database.ts'
import { isUniqueViolation } from '../../src/adapters/database/database-error.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

describe('database', () => {
  let target: TestDatabase
  let database: Database<DatabaseClient>

  beforeAll(async () => {
    target = await testDatabase()
    database = await openTestDatabase(target)
  })
  afterAll(async () => {
    await database.close()
    await target.close()
  })
  afterEach(() => database.session.script('TRUNCATE workspace CASCADE'))

  it('commits or rolls back a transaction as a whole', async () => {
    await database.transaction(async (client) => {
      await client.workspace.create({ data: { name: 'one' } })
      await client.workspace.create({ data: { name: 'two' } })
    })
    const failing = database.transaction(async (client) => {
      await client.workspace.create({ data: { name: 'three' } })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await database.client.workspace.count()).toBe(2)
  })

  it('reports an error if the commit of a transaction fails', async () => {
    await database.session.script(
      'CREATE TABLE late (id int, CONSTRAINT late_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    const failing = database.transaction(async (client) => {
      await client.$executeRaw`INSERT INTO late VALUES (1), (1)`
    })
    await expect(failing).rejects.toThrow()
    expect((await database.session.query('SELECT * FROM late')).rows).toEqual([])
  })

  it('runs a batch as a whole', async () => {
    const { session } = database
    const insert = (id: number) => ({ sql: 'INSERT INTO batched VALUES ($1) RETURNING id::text', params: [id] })
    await session.script(
      'CREATE TABLE batched (id int, CONSTRAINT batched_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    expect(await session.batch([insert(1), insert(2)])).toEqual([[{ id: '1' }], [{ id: '2' }]])
    const broken = { sql: 'SELECT 1 / $1::int', params: [0] }
    await expect(session.batch([insert(3), broken, insert(4)])).rejects.toThrow('division by zero')
    // Only the commit finds this one.
    await expect(session.batch([insert(5), insert(1)])).rejects.toThrow('batched_key')
    expect(await session.batch([insert(6), insert(7)])).toEqual([[{ id: '6' }], [{ id: '7' }]])
    const { rows } = await session.query('SELECT string_agg(id::text, $1 ORDER BY id) AS ids FROM batched', [' '])
    expect(rows).toEqual([{ ids: '1 2 6 7' }])
  })

  it('stores messages with lz4, or as they are', async () => {
    const { rows } = await database.session.query(
      `SELECT attcompression, attstorage FROM pg_attribute WHERE attrelid = 'conversation'::regclass AND attname = 'messages'`,
    )
    const known = await database.session.query(
      `SELECT 'lz4' = ANY (enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'`,
    )
    const kept = { attcompression: '', attstorage: 'e' }
    expect(rows).toEqual([known.rows[0]?.['lz4'] ? { attcompression: 'l', attstorage: 'x' } : kept])
  })

  it('runs fifty concurrent transactions', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `workspace ${index}`)
    await Promise.all(
      names.map((name) => database.transaction((client) => client.workspace.create({ data: { name } }))),
    )
    expect(await database.client.workspace.count()).toBe(50)
  })

  it('recognizes only unique violations, in Prisma and plain SQL', async () => {
    const { id } = await database.client.workspace.create({ data: { name: 'one' } })
    const refusal = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => error,
      )
    const byPrisma = await refusal(database.client.workspace.create({ data: { id, name: 'two' } }))
    const bySql = await refusal(database.session.query(`INSERT INTO workspace (id, name) VALUES ($1, 'x')`, [id]))
    const other = await refusal(database.session.query('SELECT 1 / 0'))
    expect([byPrisma, bySql, other].map(isUniqueViolation)).toEqual([true, true, false])
  })

  it('counts the statements that it sends', async () => {
    const before = database.statementCount()
    await database.client.workspace.findMany()
    expect(database.statementCount()).toBe(before + 1)
  })
})
