/**
 * The SQL statements of earlier releases, recorded by scripts/record-statements.ts, work on the schema of this build: during
 * a rolling update, servers of both releases use the migrated database.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSkippedWithoutServer, onServer, testServerUrl } from '../support/database-server.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const recordings = fileURLToPath(new URL('../upgrade/', import.meta.url))
const recorded = readdirSync(recordings)
  .map((release) => ({ release, file: join(recordings, release, 'statements.json') }))
  .filter(({ file }) => existsSync(file))

describe.skipIf(isSkippedWithoutServer('statements of earlier releases'))('the schema of this build', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase(testServerUrl)
  })
  afterAll(() => database.close())

  /** Returns the statements that PostgreSQL refuses, with its reason. */
  const refusedOf = (statements: readonly string[], change = '') =>
    onServer(database.databaseUrl ?? '', async (client) => {
      const refused: string[] = []
      await client.query(`BEGIN; ${change}`)
      for (const sql of statements) {
        await client.query('SAVEPOINT before')
        await client.query(`PREPARE recorded AS ${sql}`).then(
          () => client.query('DEALLOCATE recorded'),
          (error: Error) => {
            refused.push(`${error.message}: ${sql}`)
            return client.query('ROLLBACK TO before')
          },
        )
      }
      await client.query('ROLLBACK')
      return refused
    })
  const statementsOf = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as string[]

  it.each(recorded)('accepts every statement of $release', async ({ file }) => {
    expect(await refusedOf(statementsOf(file))).toEqual([])
  })

  it.each(recorded)('would not accept those of $release without a column that they use', async ({ file }) => {
    const change = 'ALTER TABLE conversation RENAME COLUMN custom_identifier TO renamed'
    const refused = await refusedOf(statementsOf(file), change)
    expect(refused.length).toBeGreaterThan(0)
    for (const reason of refused) expect(reason).toContain('custom_identifier')
  })

  it('is compared with at least one release', () => {
    expect(recorded).not.toEqual([])
  })
})
