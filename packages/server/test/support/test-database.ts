import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { tally } from '../../../../scripts/tally.ts'
import { makeDatabase } from '../../../embedded-postgres/src/directory/database-template.ts'
import { isDatabase } from '../../../embedded-postgres/src/directory/first-start.ts'
import { copyDatabase } from '../../../embedded-postgres/test/support/copy-database.ts'
import { embeddedFolder } from '../../src/adapters/database/embedded.ts'
import { migrate } from '../../src/adapters/database/migrate.ts'
import { poolSession } from '../../src/adapters/database/postgres/postgres.ts'
import { onServer, singleConnectionPool, withDatabase } from './database-server.ts'
import { temporaryFolder, temporaryRoot } from './temporary-folder.ts'

/** The server package's root, with the migrations and, after a build, the template. */
export const packageRoot = fileURLToPath(new URL('../..', import.meta.url))

/** A new, migrated database, ready for compose. */
export interface TestDatabase {
  /** Set if the suite runs on a PostgreSQL server (`STET_TEST_DATABASE_URL`). */
  databaseUrl?: string
  /** A temporary folder. On the embedded database it contains `db/`. */
  dataDir: string
  close(): Promise<void>
}

/** @param server a PostgreSQL server. Default: the test run's server, or the embedded database if there is none. */
export async function testDatabase(server = process.env['STET_TEST_DATABASE_URL']): Promise<TestDatabase> {
  const dataDir = await temporaryFolder()
  const deleteFolder = () => rm(dataDir, { recursive: true, force: true })
  if (!server) {
    await copyDatabase(await embeddedTemplate(), join(dataDir, 'db'))
    return { dataDir, close: deleteFolder }
  }
  const { databaseUrl, drop } = await clonedDatabase(server)
  return {
    databaseUrl,
    dataDir,
    async close() {
      await drop()
      await deleteFolder()
    },
  }
}

/** Returns a closed, migrated database directory, created once per machine and set of migrations. */
export async function embeddedTemplate(): Promise<string> {
  const directory = join(await temporaryRoot(), `stet-test-template-${await migrationsHash()}`)
  if (await isDatabase(embeddedFolder(directory))) return directory
  const own = await mkdtemp(`${directory}-making-`)
  await makeDatabase(join(own, 'db'), (session) => migrate(session, join(packageRoot, 'prisma', 'migrations')))
  // If several test processes run concurrently, the first one wins.
  await rename(join(own, 'db'), directory).catch(async (error: unknown) => {
    if (!(await isDatabase(embeddedFolder(directory)))) throw error
  })
  await rm(own, { recursive: true, force: true })
  return directory
}

/** Clones the server's migrated template database. An advisory lock serializes the template's creation. */
async function clonedDatabase(server: string): Promise<{ databaseUrl: string; drop(): Promise<void> }> {
  tally('database')
  const template = `stet_test_template_${await migrationsHash()}`
  const name = `stet_test_${randomBytes(8).toString('hex')}`
  await onServer(server, async (client) => {
    await client.query(`SELECT pg_advisory_lock(hashtext('stet test template'))`)
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template])
    if (rowCount === 0) await makeServerTemplate(client, server, template)
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  })
  return {
    databaseUrl: withDatabase(server, name),
    drop: async () => {
      await onServer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

async function makeServerTemplate(client: pg.Client, server: string, template: string): Promise<void> {
  const making = `${template}_making`
  await client.query(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`)
  await client.query(`CREATE DATABASE ${making}`)
  const pool = singleConnectionPool(withDatabase(server, making))
  await migrate(poolSession(pool), join(packageRoot, 'prisma', 'migrations'))
  // Waits for the connection to close, because the pool ends earlier. PostgreSQL cannot rename a database in use, and
  // would wait 5 s.
  const left = pool.totalCount > 0 && once(pool, 'remove')
  await pool.end()
  await left
  await client.query(`ALTER DATABASE ${making} RENAME TO ${template}`)
}

async function migrationsHash(): Promise<string> {
  const folder = join(packageRoot, 'prisma', 'migrations')
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  const hash = createHash('sha256')
  for (const name of names.sort()) hash.update(name).update(await readFile(join(folder, name, 'migration.sql')))
  return hash.digest('hex').slice(0, 12)
}
