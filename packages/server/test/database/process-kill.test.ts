import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { programEnd, startProgram } from '../support/child-program.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { openTestDatabase } from '../support/database-open.ts'
import { seededRandom } from '../support/random.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

// Runs on each kind of database. The tests in test/runs check the runs of a killed server.
const kills = count(30, 1_000)
const server = process.env['STET_TEST_DATABASE_URL']
const kinds = [{ kind: 'embedded', at: '' }, ...(server ? [{ kind: 'PostgreSQL', at: server }] : [])]

describe.each(kinds)('kill -9 of a writing process, $kind', ({ at }) => {
  let target: TestDatabase

  beforeEach(async () => {
    target = await testDatabase(at)
  })
  afterEach(() => target.close())

  it(
    'promise 1: no acknowledged write is lost when our process dies',
    async () => {
      const random = seededRandom(seed)
      const ledger = join(target.dataDir, 'ledger')
      const acknowledged = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').slice(0, -1) : [])
      for (let kill = 0; kill < kills; kill++) {
        const before = acknowledged().length
        // Each process gets new numbers, because an unacknowledged write of the previous one may have been stored.
        const first = 1 + kill * 1_000_000
        const writer = startProgram('writer-child.ts', JSON.stringify({ ...target, ledger, first }))
        const end = programEnd(writer)
        let hasEnded = false
        void end.then(() => (hasEnded = true))
        while (acknowledged().length < before + 2 && !hasEnded) await delay(5)
        expect(hasEnded, hasEnded ? (await end).stderr : '').toBe(false)
        await delay(random() * 200)
        writer.kill('SIGKILL')
        await end
      }
      const database = await openTestDatabase(target)
      const stored = new Set((await database.client.workspace.findMany({ select: { id: true } })).map(({ id }) => id))
      await database.close()
      expect(
        acknowledged().filter((id) => !stored.has(Number(id))),
        `seed ${seed}`,
      ).toEqual([])
      expect(acknowledged().length).toBeGreaterThan(kills)
    },
    timeFor(kills, 30_000),
  )
})
