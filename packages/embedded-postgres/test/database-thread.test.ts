import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import type { SqlDriverAdapter, SqlQuery } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../src/open-embedded.ts'
import { openPglite } from '../src/open-pglite.ts'
import type { SqlSession } from '../src/sql-session.ts'
import { compiledPglite } from '../src/thread/compiled-pglite.ts'
import { startDatabaseThread } from '../src/thread/database-thread.ts'
import { pgliteSession } from '../src/thread/pglite-session.ts'
import { threadSession } from '../src/thread/thread-client.ts'
import { runProgram } from './support/child-program.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate, silent, threadFile } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

interface Ways {
  session: SqlSession
  prisma: SqlDriverAdapter
}

let folder: string
let engine: EmbeddedPostgres
let pglite: PGlite
let thread: Ways
let here: Ways

const open = () => openEmbeddedPostgres({ folder: folderOf(join(folder, 'db')), template: '', threadFile, log: silent })

beforeAll(async () => {
  folder = await temporaryFolder()
  await copyDatabase(await itemTemplate(), join(folder, 'db'))
  engine = await open()
  await copyDatabase(await itemTemplate(), join(folder, 'here'))
  pglite = await openPglite(folderOf(join(folder, 'here')))
  thread = { session: engine.session, prisma: await engine.adapter.connect() }
  here = { session: pgliteSession(pglite), prisma: await new PrismaPGlite(pglite).connect() }
  for (const { session } of [thread, here]) {
    await session.script('CREATE TABLE thing (id int PRIMARY KEY, bytes bytea, at timestamptz)')
  }
})
afterAll(async () => {
  await engine.close()
  await pglite.close()
  await rm(folder, { recursive: true })
})

const VALUES = `SELECT 1::int AS int, 9007199254740993::int8 AS big, 1.10::numeric AS numeric, 1.5::float8 AS float, true AS bool,
  '2026-01-02'::date AS date, '2026-01-02T03:04:05.678Z'::timestamptz AS at, '2026-01-02 03:04:05'::timestamp AS plain,
  '{"a":[1,null,"\\ud83d\\ude00"]}'::jsonb AS json, '\\x00ff10'::bytea AS bytes, ''::bytea AS none, NULL::text AS nothing,
  ARRAY['a',NULL,'b"c'] AS texts, ARRAY[1,2]::int8[] AS bigs, ARRAY['\\x01'::bytea] AS many, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS uuid`

const prismaQuery = (sql: string, ...args: unknown[]): SqlQuery => ({
  sql,
  args,
  argTypes: args.map((value) => ({ scalarType: value instanceof Uint8Array ? 'bytes' : 'unknown', arity: 'scalar' })),
})

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: Error) => error,
  )

/** PostgreSQL's own error fields, without those that PGlite adds. */
const toldBy = (error: Error | undefined) => {
  const { query: _, params: __, queryOptions: ___, ...told } = { ...error } as Record<string, unknown>
  return JSON.parse(JSON.stringify({ ...told, message: error?.message })) as unknown
}

it('transfers values of every type unchanged', async () => {
  expect(await thread.session.query(VALUES)).toEqual(await here.session.query(VALUES))
  const [carried, plain] = [
    await thread.prisma.queryRaw(prismaQuery(VALUES)),
    await here.prisma.queryRaw(prismaQuery(VALUES)),
  ]
  expect(carried).toEqual(plain)
})

it('copies bytes from a shared buffer without detaching it', async () => {
  const shared = Buffer.from('before bytes after')
  const bytes = shared.subarray(7, 12)
  const insert = 'INSERT INTO thing (id, bytes) VALUES ($1::int, $2::bytea)'
  for (const { session, prisma } of [thread, here]) {
    await session.query(insert, [1, bytes])
    await session.batch([{ sql: insert, params: [2, bytes] }])
    expect(await prisma.executeRaw(prismaQuery(insert, 3, bytes))).toBe(1)
    const { rows } = await session.query('SELECT bytes FROM thing ORDER BY id')
    expect(rows.map((row) => String(Buffer.from(row['bytes'] as Uint8Array)))).toEqual(['bytes', 'bytes', 'bytes'])
  }
  expect(String(shared)).toBe('before bytes after')
})

it('passes errors with all their properties', async () => {
  const failing = [`SELECT 'x' FORM thing`, 'INSERT INTO thing (id) VALUES (100), (100)', `SELECT '{'::jsonb`]
  for (const sql of failing) {
    const [carried, plain] = [failureOf(thread.session.query(sql)), failureOf(here.session.query(sql))]
    expect(await carried).toBeInstanceOf(Error)
    expect(toldBy(await carried)).toEqual(toldBy(await plain))
    const prismas = [thread.prisma, here.prisma].map(async (prisma) => failureOf(prisma.queryRaw(prismaQuery(sql))))
    expect((await prismas[0])?.cause).toEqual((await prismas[1])?.cause)
    expect((await prismas[0])?.name).toBe('DriverAdapterError')
  }
})

/** The number of event-loop ticks in this thread while the database thread evaluates a query. */
async function turnsDuring(rows: number): Promise<number> {
  let isOver = false
  const evaluated = thread.session
    .query(`SELECT count(*) FROM generate_series(1, ${rows})`)
    .finally(() => (isOver = true))
  let turns = 0
  for (; !isOver; turns += 1) await nextTurn()
  await evaluated
  return turns
}

it('does not block the main thread during a query', async () => {
  // On a busy machine a short query may finish before this thread gets a core, so the queries grow.
  const turns: number[] = []
  for (let rows = 300_000; rows <= 10_000_000 && Math.max(0, ...turns) <= 100; rows *= 3)
    turns.push(await turnsDuring(rows))
  expect(Math.max(...turns), turns.join()).toBeGreaterThan(100)
})

it('keeps statements in order, however many are waiting', async () => {
  await thread.session.script('CREATE TABLE ordered (place serial, number int)')
  const statements = Array.from({ length: 1_000 }, (_, number) => {
    const sql = 'INSERT INTO ordered (number) VALUES ($1::int)'
    return number % 2 === 0 ? thread.session.query(sql, [number]) : thread.session.batch([{ sql, params: [number] }])
  })
  await Promise.all(statements)
  const { rows } = await thread.session.query('SELECT number FROM ordered ORDER BY place')
  expect(rows.map((row) => row['number'])).toEqual(statements.map((_, number) => number))
})

it("runs a started transaction's statements before all waiting ones", async () => {
  let waiting: Promise<unknown>[] = []
  await thread.session.transaction(async (queries) => {
    waiting = Array.from({ length: 1_000 }, () => thread.session.query('SELECT count(*)::int AS count FROM thing'))
    await queries.query('INSERT INTO thing (id) VALUES (1000)')
    await queries.query('INSERT INTO thing (id) VALUES (1001)')
  })
  const answers = await Promise.all(waiting)
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  const { rows } = await thread.session.query('SELECT id FROM thing WHERE id >= 1000')
  expect(rows).toHaveLength(2)
})

it('does not acknowledge a transaction that was rolled back', async () => {
  const failing = thread.session.transaction(async (queries) => {
    await queries.query('INSERT INTO thing (id) VALUES (2000)')
    await queries.query('SELECT 1 / 0').catch(() => undefined)
  })
  await expect(failing).rejects.toMatchObject({ code: '25P02' })
  expect((await thread.session.query('SELECT id FROM thing WHERE id = 2000')).rows).toEqual([])
})

it('rejects requests after close and unlocks the folder', async () => {
  const { session } = engine
  await engine.close()
  await expect(session.query('SELECT 1')).rejects.toThrow('is closed')
  engine = await open()
  expect((await engine.session.query('SELECT id FROM thing WHERE id >= 1000')).rows).toHaveLength(2)
})

it('reports a folder that cannot be opened and releases its lock', async () => {
  const opening = openEmbeddedPostgres({ folder: folderOf(folder), template: '', threadFile, log: silent })
  await expect(opening).rejects.toMatchObject({
    name: 'EmbeddedPostgresError',
    message: expect.stringContaining('holds no'),
  })
})

it('ends the process when the thread exits unexpectedly', async () => {
  const child = await runProgram(new URL('support/dying-thread-child.ts', import.meta.url))
  expect(child).toMatchObject({ code: 74, stdout: '' })
  expect(child.stderr).toMatch(/^test: the embedded database exited unexpectedly: Error: out of its depth\n/)
})

describe('a database that stops responding', () => {
  it('rejects waiting and new statements, and ends the process if it does not recover', async () => {
    const child = await runProgram(new URL('support/silent-thread-child.ts', import.meta.url))
    const refused = 'DatabaseSilentError The embedded database does not answer\n'
    expect(child).toMatchObject({ code: 74, stdout: refused + refused })
    expect(child.stderr).toBe('test: the embedded database has not answered for 5 s: the process ends\n')
  })

  it('works again once it responds, and does not store a rejected transaction', async () => {
    const own = folderOf(join(folder, 'sleepy'))
    await copyDatabase(await itemTemplate(), own.path)
    const sleepy = startDatabaseThread(threadFile, 'test')
    await sleepy.ask('open', { folder: own, template: '', program: await compiledPglite() })
    sleepy.watchSilence({ refuseAfterMs: 200, endAfterMs: 300_000 })
    const session = threadSession(sleepy)
    const away = { code: 'DATABASE_SILENT' }
    // The query keeps the thread busy for seconds, and the transaction waits behind it.
    const busy = session.query('SELECT count(*) FROM generate_series(1, 3000000)')
    const behind = session.transaction((queries) => queries.query(`INSERT INTO item (name) VALUES ('refused')`))
    await Promise.all([expect(busy).rejects.toMatchObject(away), expect(behind).rejects.toMatchObject(away)])
    const store = () =>
      session
        .transaction((queries) => queries.query(`INSERT INTO item (name) VALUES ('later')`))
        .then(
          () => 'stored',
          () => 'refused',
        )
    await expect.poll(store).toBe('stored')
    const names = () => session.query('SELECT DISTINCT name FROM item').then(({ rows }) => rows, String)
    await expect.poll(names).toEqual([{ name: 'later' }])
    await sleepy.close()
  })
})
