import { randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { pgliteSession } from '../../../embedded-postgres/src/thread/pglite-session.ts'
import { schemaDifference } from '../../scripts/schema-difference.ts'
import { migrate } from '../../src/adapters/database/migrate.ts'
import { poolSession } from '../../src/adapters/database/postgres/postgres.ts'
import {
  isSkippedWithoutServer,
  onServer,
  singleConnectionPool,
  testServerUrl,
  withDatabase,
} from '../support/database-server.ts'
import { packageRoot } from '../support/test-database.ts'

const migrationsFolder = join(packageRoot, 'prisma', 'migrations')

// One call proves both that the migrations lead to the schema and that a difference is found: each call creates a
// database, which takes seconds of CPU time.
it('migrations produce exactly the schema, except for a model that only the schema has', async () => {
  const root = await mkdtemp(join(tmpdir(), 'stet-schema-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await cp(join(packageRoot, 'prisma'), join(root, 'prisma'), { recursive: true })
  const file = join(root, 'prisma', 'schema.prisma')
  await writeFile(file, `${await readFile(file, 'utf8')}\nmodel Extra {\n  id Int @id\n}\n`)
  const statements = (await schemaDifference(root))
    .replace(/^--.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
  expect(statements).toBe('CREATE TABLE "Extra" ( "id" INTEGER NOT NULL, CONSTRAINT "Extra_pkey" PRIMARY KEY ("id") );')
}, 120_000)

describe('migration runner', () => {
  let folder: string
  let pglite: PGlite

  beforeAll(async () => {
    // The prebuilt database opens in a fraction of the 4 s of CPU time that a new one takes.
    const template = await readFile(join(packageRoot, 'dist', 'database-template.tar.gz'))
    pglite = await PGlite.create({ loadDataDir: new Blob([template], { type: 'application/x-gzip' }) })
  })
  afterAll(() => pglite.close())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stet-migrations-'))
    await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    await writeMigration('1_one', 'CREATE TABLE one (id int); INSERT INTO one VALUES (1);')
  })
  afterEach(() => rm(folder, { recursive: true }))

  async function writeMigration(name: string, sql: string) {
    await mkdir(join(folder, name), { recursive: true })
    await writeFile(join(folder, name, 'migration.sql'), sql)
  }

  it('applies missing migrations in order and writes the same rows as Prisma', async () => {
    await writeMigration('2_two', 'ALTER TABLE one ADD COLUMN two int')
    expect(await migrate(pgliteSession(pglite), folder)).toEqual(['1_one', '2_two'])
    expect(await migrate(pgliteSession(pglite), folder)).toEqual([])
    const { rows } = await pglite.query('SELECT * FROM _prisma_migrations ORDER BY migration_name')
    expect(rows).toMatchObject([
      { migration_name: '1_one', applied_steps_count: 1, rolled_back_at: null, logs: null },
      { migration_name: '2_two', applied_steps_count: 1 },
    ])
    expect(rows[0]).toHaveProperty('checksum', expect.stringMatching(/^[0-9a-f]{64}$/))
    expect(rows[0]).toHaveProperty('finished_at', expect.any(Date))
  })

  it('refuses a migration that was edited after it was applied', async () => {
    await migrate(pgliteSession(pglite), folder)
    await writeMigration('1_one', 'CREATE TABLE another (id int)')
    await expect(migrate(pgliteSession(pglite), folder)).rejects.toThrow('Migration 1_one was edited')
  })

  it('refuses a database of another release, and says which can be', async () => {
    await writeMigration('2_two', 'SELECT 1')
    await migrate(pgliteSession(pglite), folder)
    await rm(join(folder, '2_two'), { recursive: true })
    await expect(migrate(pgliteSession(pglite), folder)).rejects.toThrow(
      '2_two, which is not part of this release: a later release applied it, or a build before the first release',
    )
  })

  it('rolls back a failed migration completely', async () => {
    await writeMigration('2_two', 'CREATE TABLE two (id int); SELECT 1 / 0')
    await expect(migrate(pgliteSession(pglite), folder)).rejects.toThrow('division by zero')
    const { rows } = await pglite.query(
      `SELECT to_regclass('two') AS two, (SELECT array_agg(migration_name) FROM _prisma_migrations) AS applied`,
    )
    expect(rows).toEqual([{ two: null, applied: ['1_one'] }])
  })
})

describe.skipIf(isSkippedWithoutServer('concurrent migrations of a PostgreSQL database'))('concurrent starts', () => {
  it('promise 20: eight servers that start concurrently migrate once', async () => {
    const server = testServerUrl ?? ''
    // A killed test run may leave its database, and machines that share the server may have equal process ids.
    const name = `stet_parallel_${randomBytes(8).toString('hex')}`
    await onServer(server, (client) => client.query(`CREATE DATABASE ${name}`))
    const pools = Array.from({ length: 8 }, () => singleConnectionPool(withDatabase(server, name)))
    try {
      const applied = await Promise.all(pools.map((pool) => migrate(poolSession(pool), migrationsFolder)))
      const { rows } = await onServer(withDatabase(server, name), (client) =>
        client.query('SELECT migration_name FROM _prisma_migrations ORDER BY 1'),
      )
      expect(applied.flat().sort()).toEqual(rows.map((row) => row.migration_name))
      expect(rows.length).toBeGreaterThan(0)
    } finally {
      await Promise.all(pools.map((pool) => pool.end()))
      await onServer(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    }
  })
})
