import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { openPglite } from '../src/open-pglite.ts'
import type { SqlSession } from '../src/sql-session.ts'
import { pgliteSession } from '../src/thread/pglite-session.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let folder: string
let pglite: PGlite
let session: SqlSession
beforeAll(async () => {
  folder = await temporaryFolder()
  await copyDatabase(await itemTemplate(), join(folder, 'db'))
  pglite = await openPglite(folderOf(join(folder, 'db')))
  session = pgliteSession(pglite)
  await pglite.exec('CREATE TABLE thing (id int PRIMARY KEY, text text, bytes bytea, list text[], json jsonb)')
})
beforeEach(() => pglite.exec('TRUNCATE thing'))
afterAll(async () => {
  await pglite.close()
  await rm(folder, { recursive: true })
})

const insert = 'INSERT INTO thing (id) VALUES ($1::int) RETURNING id::text AS key'
const ids = async () =>
  (await pglite.query<{ id: number }>('SELECT id FROM thing ORDER BY id')).rows.map(({ id }) => id)

it('passes texts, bytes, lists, JSON and null unchanged', async () => {
  const text = `a'b"c\\d\n{e},😀`
  const sql = 'INSERT INTO thing VALUES ($1::int, $2, $3::bytea, $4::text[], $5::jsonb) RETURNING text, id::text'
  const params = [1, text, new Uint8Array([0, 1, 255]), [text, null, 'null', ''], JSON.stringify({ text })]
  expect(await session.batch([{ sql, params }])).toEqual([[{ text, id: '1' }]])
  await session.batch([{ sql, params: [2, null, null, null, null] }])
  expect((await pglite.query('SELECT * FROM thing ORDER BY id')).rows).toEqual([
    { id: 1, text, bytes: new Uint8Array([0, 1, 255]), list: [text, null, 'null', ''], json: { text } },
    { id: 2, text: null, bytes: null, list: null, json: null },
  ])
})

it("returns each statement's own rows", async () => {
  const silent = { sql: 'INSERT INTO thing (id) VALUES ($1::int)', params: [3] }
  const many = { sql: 'INSERT INTO thing (id) SELECT unnest($1::int[]) RETURNING id::text AS key', params: [[4, 5]] }
  expect(await session.batch([{ sql: insert, params: [1] }, silent, many])).toEqual([
    [{ key: '1' }],
    [],
    [{ key: '4' }, { key: '5' }],
  ])
})

it('rolls back all statements after a failure, and the same statements then work', async () => {
  await session.batch([{ sql: insert, params: [1] }])
  const failing = [
    { sql: insert, params: [2] },
    { sql: 'INSERT INTO thing (id, text) VALUES ($1::int, $2)', params: [1, 'taken'] },
  ]
  await expect(session.batch(failing)).rejects.toMatchObject({ code: '23505' })
  expect(await ids()).toEqual([1])
  await session.batch([{ sql: insert, params: [2] }])
  expect(await ids()).toEqual([1, 2])
})

it('caches a bounded number of query plans', async () => {
  for (let index = 0; index < 80; index += 1) {
    await session.batch([{ sql: `INSERT INTO thing (id) VALUES ($1::int + ${index})`, params: [1_000] }])
  }
  const { rows } = await pglite.query<{ plans: number }>('SELECT count(*)::int AS plans FROM pg_prepared_statements')
  expect(rows[0]?.plans).toBeLessThanOrEqual(33)
  expect(await ids()).toHaveLength(80)
})

it("never interferes with other callers' transactions", async () => {
  const failed = pglite.transaction(async (transaction) => {
    await transaction.query('INSERT INTO thing (id) VALUES (100)')
    const beside = session.batch([{ sql: insert, params: [1] }])
    await transaction.query('INSERT INTO thing (id) VALUES (101)')
    void beside.catch(() => undefined)
    throw new Error('rolled back')
  })
  await expect(failed).rejects.toThrow('rolled back')
  await session.batch([{ sql: insert, params: [2] }])
  expect(await ids()).toEqual([1, 2])
})
