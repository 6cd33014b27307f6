import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SqlQueries, SqlSession } from '@stet/embedded-postgres/sql-session'
import { OperatorError } from '../../shared/app-error.ts'
import { codeOf, LostRowsError } from './database-error.ts'

/** Prisma's `migrate deploy` locks the same key, so the two never migrate at the same time. */
const prismaLock = 72_707_369

const createTable = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`

/** PostgreSQL's codes for a schema, table, column, function or other object that exists already. */
const existsCodes = new Set(['42P06', '42P07', '42701', '42710', '42723'])

type Migration = Awaited<ReturnType<typeof readMigrations>>[number]

/**
 * Applies each missing migration in its own transaction. Returns the names of the applied migrations. Several servers
 * may call this at the same time.
 * @throws OperatorError if an applied migration was edited, is unfinished or is not part of this release. LostRowsError if
 * the table of applied migrations has lost rows.
 */
export async function migrate(session: SqlSession, folder: string): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const before = await session.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS present`)
  if (before.rows[0]?.['present'] === true) {
    const applied = await readApplied(session, migrations)
    if (migrations.every((migration) => applied.has(migration.name))) return []
  }
  const done: string[] = []
  for (const migration of migrations) {
    if (await session.transaction((queries) => applyOne(queries, migrations, migration))) done.push(migration.name)
  }
  return done
}

async function applyOne(queries: SqlQueries, migrations: Migration[], migration: Migration): Promise<boolean> {
  // The wait has no limit, because another server may hold the lock for the duration of its migration.
  await queries.query('SET LOCAL statement_timeout = 0')
  await queries.query('SET LOCAL lock_timeout = 0')
  await queries.query(`SELECT pg_advisory_xact_lock(${prismaLock})`)
  await queries.script(createTable)
  const applied = await readApplied(queries, migrations)
  if (applied.has(migration.name)) return false
  const startedAt = new Date()
  await queries.script(migration.sql).catch((error: unknown) => {
    if (!existsCodes.has(codeOf(error) ?? '')) throw error
    const exists = error instanceof Error ? error.message : ''
    throw new LostRowsError(`_prisma_migrations lacks ${migration.name}, but ${exists}`)
  })
  await queries.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), migration.checksum, migration.name, startedAt],
  )
  return true
}

async function readApplied(queries: SqlQueries, migrations: Migration[]): Promise<Set<string>> {
  const { rows } = await queries.query(
    'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
  )
  const known = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  for (const row of rows) {
    const name = String(row['migration_name'])
    const checksum = known.get(name)
    if (row['finished_at'] === null)
      throw new OperatorError(`Migration ${name} was begun by another tool and did not finish`)
    if (checksum === undefined)
      throw new OperatorError(
        `The database has migration ${name}, which is not part of this release: a later release applied it, or a build before the first release`,
      )
    if (checksum !== row['checksum']) throw new OperatorError(`Migration ${name} was edited after it had been applied`)
  }
  const applied = new Set(rows.map((row) => String(row['migration_name'])))
  const firstMissing = migrations.findIndex(({ name }) => !applied.has(name))
  const later = firstMissing < 0 ? undefined : migrations.slice(firstMissing).find(({ name }) => applied.has(name))
  if (later)
    throw new LostRowsError(`_prisma_migrations has ${later.name}, but lacks ${migrations[firstMissing]?.name}`)
  return applied
}

async function readMigrations(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  if (names.length === 0) throw new Error(`No migrations found in ${folder}`)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8')
      // The checksum has the form that Prisma stores.
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/** The first start fills these tables in one transaction, and they are never emptied. */
const filledTables = ['workspace', 'author', 'api_key'] as const

/**
 * Checks that the tables of the first start are all filled or all empty. Otherwise a server whose workspaces are lost would
 * create another one, and replace the admin key.
 * @returns true if they are filled. @throws LostRowsError
 */
export async function requireOwnRows(session: SqlSession): Promise<boolean> {
  const columns = filledTables.map((table) => `EXISTS (SELECT FROM ${table}) AS ${table}`)
  const { rows } = await session.query(`SELECT ${columns.join(', ')}`)
  const empty = filledTables.filter((table) => rows[0]?.[table] === false)
  if (empty.length > 0 && empty.length < filledTables.length) {
    const filled = filledTables.filter((table) => !empty.includes(table))
    throw new LostRowsError(`no rows in ${empty.join(' and ')}, but rows in ${filled.join(' and ')}`)
  }
  return empty.length === 0
}
