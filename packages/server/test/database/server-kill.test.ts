import { rm } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { privateCluster } from '../support/private-cluster.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { expectNothingLost } from '../support/written-ledger.ts'

const kills = count(3, 100)

it(
  'promise 2: no acknowledged write is lost when the PostgreSQL process dies under load',
  async ({ skip }) => {
    const cluster = await privateCluster()
    if (!cluster) return skip('there is no PostgreSQL that a test could start')
    const dataDir = await temporaryFolder()
    onTestFinished(async () => {
      await cluster.close()
      await rm(dataDir, { recursive: true })
    })
    const target = { databaseUrl: cluster.url, dataDir }
    const database = await openTestDatabase(target)
    expect(database.kind).toBe('postgres')
    await database.close()
    const { kill, restart: recover } = cluster
    await expectNothingLost(target, { kills, rowsEach: 20, mostMs: 300, kill, recover })
  },
  timeFor(kills, 60_000),
)
