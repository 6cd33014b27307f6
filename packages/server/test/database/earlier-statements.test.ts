/**
 * The SQL statements of earlier releases, recorded by scripts/record-statements.ts, work on the schema of this build: during
 * a rolling update, servers of both releases use the migrated database.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSkippedWithoutServer, onServer, testServerUrl } from '../support/database-server.ts'
import { recordedReleases } from '../support/recorded-releases.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

describe.skipIf(isSkippedWithoutServer('statements of earlier releases'))('the schema of this build', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase(testServerUrl)
  })
  afterAll(() => database.close())

  /** Returns the statements that PostgreSQL refuses, with its reason. */
  const refusedOf = (statements: readonly string[]) =>
    onServer(database.databaseUrl ?? '', async (client) => {
      const refused: string[] = []
      await client.query('BEGIN')
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

  it.each(recordedReleases('statements.json'))('accepts every statement of $release', async ({ folder }) => {
    expect(await refusedOf(JSON.parse(readFileSync(join(folder, 'statements.json'), 'utf8')) as string[])).toEqual([])
  })

  it('would not accept a statement with a column that it lacks', async () => {
    const [known, lacking] = ['SELECT path FROM conversation', 'SELECT renamed FROM conversation']
    expect(await refusedOf([known, lacking, known])).toEqual([expect.stringContaining(lacking)])
  })
})
