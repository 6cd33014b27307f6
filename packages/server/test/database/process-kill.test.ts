import { expect, it, onTestFinished } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { testDatabase } from '../support/test-database.ts'
import { expectNothingLost } from '../support/written-ledger.ts'

// Runs on each kind of database. The tests in test/runs check the runs of a killed server.
const kills = count(5, 1_000)
const server = process.env['STET_TEST_DATABASE_URL']
const kinds = [{ kind: 'embedded', at: '' }, ...(server ? [{ kind: 'PostgreSQL', at: server }] : [])]

it.each(kinds)(
  'promise 1: no acknowledged write is lost when our process dies ($kind)',
  async ({ at }) => {
    const target = await testDatabase(at)
    onTestFinished(() => target.close())
    expect(target.databaseUrl === undefined).toBe(at === '')
    await expectNothingLost(target, { kills, rowsEach: 2, mostMs: 200 })
  },
  timeFor(kills, 30_000),
)
