import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { programEnd, startProgram } from '../support/child-program.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { type PrivateCluster, privateCluster } from '../support/private-cluster.ts'
import { seededRandom } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kills = count(5, 100)

let cluster: PrivateCluster | undefined
let dataDir: string
beforeAll(async () => {
  dataDir = await temporaryFolder()
  cluster = await privateCluster()
}, 120_000)
afterAll(async () => {
  await cluster?.close()
  await rm(dataDir, { recursive: true })
})

it(
  'promise 2: no acknowledged write is lost when the PostgreSQL process dies under load',
  async ({ skip }) => {
    if (!cluster) return skip('there is no PostgreSQL that a test could start')
    const random = seededRandom(seed)
    const target = { databaseUrl: cluster.url, dataDir }
    await (await openTestDatabase(target)).close()
    const ledger = join(dataDir, 'ledger')
    const acknowledged = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').slice(0, -1) : [])
    for (let kill = 0; kill < kills; kill += 1) {
      const before = acknowledged().length
      const writer = startProgram('writer-child.ts', JSON.stringify({ ...target, ledger, first: 1 + kill * 1_000_000 }))
      const end = programEnd(writer)
      let hasEnded = false
      void end.then(() => (hasEnded = true))
      while (acknowledged().length < before + 20 && !hasEnded) await delay(5)
      expect(hasEnded, hasEnded ? (await end).stderr : '').toBe(false)
      await delay(random() * 300)
      await cluster.kill()
      writer.kill('SIGKILL')
      await end
      await cluster.restart()
    }
    const database = await openTestDatabase(target)
    const stored = new Set((await database.client.workspace.findMany({ select: { id: true } })).map(({ id }) => id))
    await database.close()
    const lost = acknowledged().filter((id) => !stored.has(Number(id)))
    expect(lost, `seed ${seed}`).toEqual([])
    expect(acknowledged().length).toBeGreaterThanOrEqual(20 * kills)
  },
  timeFor(kills, 60_000),
)
