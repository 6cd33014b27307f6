import pg from 'pg'

/** The PostgreSQL server for tests. Without it, suites that need a server are skipped with a notice. */
export const testServerUrl = process.env['STET_TEST_DATABASE_URL'] || undefined

export function isSkippedWithoutServer(suite: string): boolean {
  if (testServerUrl !== undefined) return false
  console.warn(`SKIPPED, STET_TEST_DATABASE_URL is not set: ${suite}`)
  return true
}

export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/**
 * A pool of one connection whose database may be dropped at any time. `pool.end()` resolves before its connections are
 * closed (pg-pool 3.14), so a forced drop can hit one of them. Without a listener, that error would end the process.
 */
export function singleConnectionPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => undefined)
  return pool
}
