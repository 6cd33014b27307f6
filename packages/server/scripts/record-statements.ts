/**
 * Records the SQL statements of a release, for the test that they work on the schema of later builds: during a rolling
 * update, servers of both releases use the migrated database. Runs the release's own tests on a PostgreSQL server that
 * logs all statements.
 *
 *     tsx scripts/record-statements.ts <built checkout of the release> test/upgrade/<commit>
 *
 * Needs Debian's package of PostgreSQL.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { onServer, withDatabase } from '../test/support/database-server.ts'
import { type PrivateCluster, privateCluster } from '../test/support/private-cluster.ts'

const [checkout = '', target = ''] = process.argv.slice(2)
const [templatePrefix, folders] = ['stet_test_template_', ['test/http', 'test/versions', 'test/runs', 'test/ports']]

const cluster = await privateCluster()
if (!cluster) process.exit(1)
try {
  await logStatements(cluster)
  const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'postgres', ...folders], {
    cwd: join(checkout, 'packages', 'server'),
    env: { ...process.env, STET_TEST_DATABASE_URL: cluster.url, STET_TEST_REDIS_URL: '' },
    stdio: 'inherit',
  })
  if (status !== 0) console.warn('Tests of the release failed, so statements may be missing')
  const statements = await usable(cluster, loggedStatements(await folderOf(cluster)))
  mkdirSync(target, { recursive: true })
  writeFileSync(join(target, 'statements.json'), `${JSON.stringify(statements, null, 1)}\n`)
  console.log(`${statements.length} statements`)
} finally {
  await cluster.close()
}

async function logStatements({ url, kill, restart }: PrivateCluster): Promise<void> {
  const settings = {
    logging_collector: 'on',
    log_destination: 'jsonlog',
    log_directory: 'statements',
    log_statement: 'all',
    max_connections: '300',
    fsync: 'off',
  }
  await onServer(url, async (client) => {
    for (const [name, value] of Object.entries(settings)) await client.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  })
  await kill()
  await restart()
}

async function folderOf({ url }: PrivateCluster): Promise<string> {
  return onServer(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    return join(rows[0]?.data_directory ?? '', 'statements')
  })
}

/** Reads the distinct statements from the server's log. Lists of parameters may have any length, so one of each is kept. */
function loggedStatements(folder: string): string[] {
  const found = new Map<string, string>()
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
      if (line === '') continue
      const { message = '', dbname = '' } = JSON.parse(line) as { message?: string; dbname?: string }
      const [, sql] = /^(?:statement|execute [^:]+): (.*)$/s.exec(message) ?? []
      if (sql === undefined || !dbname.startsWith('stet_test_')) continue
      if (!/^(WITH|SELECT|INSERT|UPDATE|DELETE)\b/i.test(sql.trimStart())) continue
      const shape = sql.replace(/\(\$\d+(, ?\$\d+)*\)(, ?\(\$\d+(, ?\$\d+)*\))*/g, '($)').replace(/\s+/g, ' ')
      if (!found.has(shape)) found.set(shape, sql)
    }
  }
  return [...found.values()].sort()
}

/** Keeps what works on the release's own schema: tests also create tables and send statements that must fail. */
async function usable({ url }: PrivateCluster, statements: readonly string[]): Promise<string[]> {
  const template = await onServer(url, async (client) => {
    const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database WHERE datname LIKE $1', [
      `${templatePrefix}%`,
    ])
    return rows[0]?.datname ?? ''
  })
  return onServer(withDatabase(url, template), async (client) => {
    const kept: string[] = []
    for (const sql of statements) if (await canPrepare(client, sql)) kept.push(sql)
    return kept
  })
}

async function canPrepare(client: pg.Client, sql: string): Promise<boolean> {
  try {
    await client.query(`PREPARE recorded AS ${sql}`)
    await client.query('DEALLOCATE recorded')
    return true
  } catch {
    return false
  }
}
