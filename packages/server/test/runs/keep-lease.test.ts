import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from './run-bench.ts'
import { undrivenRun } from './undriven-run.ts'

/** Longer than all intervals together, on a machine that is busy with others. */
const patienceMs = 90_000

let bench: RunBench
let openedAt: number
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
  openedAt = performance.now()
  // As on a database that several processes may use, whichever this one is.
  bench.server.deps.runSettings.sharesDatabase = true
})
afterAll(() => bench.close())

/** The conversation of a run that stands as driven by `ownerId`. */
async function runOf(ownerId: string): Promise<string> {
  const { conversation, run } = undrivenRun(ownerId)
  await bench.server.deps.runs.create(conversation, run)
  return conversation.uuid
}

const statusOf = async (uuid: string) => (await bench.conversation(uuid))['status']

it('promise 4: a living process ends the runs of a dead one, not before it was well for 10 s itself', async () => {
  const { leases, runSettings } = bench.server.deps
  await leases.renew('living', 600_000)
  await leases.renew('dead', 1)
  const [living, dead, own] = [await runOf('living'), await runOf('dead'), await runOf(runSettings.instanceId)]
  await expect.poll(() => statusOf(dead), { timeout: patienceMs, interval: 100 }).toBe('error')
  expect(performance.now() - openedAt).toBeGreaterThan(10_000)
  expect(await bench.conversation(dead)).toMatchObject({ error: { errorCode: 'worker_lost' } })
  expect((await bench.streamAttach(dead)).types).toEqual(['chain-error'])
  expect([await statusOf(living), await statusOf(own)]).toEqual(['running', 'running'])
}, 120_000)

it('the lease is renewed every 3 s, long before it ends', async () => {
  const { deps, database } = bench.server
  const seen = new Map<number, number>()
  const until = performance.now() + patienceMs
  while (seen.size < 3 && performance.now() < until) {
    const { rows } = await database.session.query(
      `SELECT extract(epoch FROM lease_until) * 1000 AS until, extract(epoch FROM lease_until - now()) * 1000 AS rest
       FROM instance WHERE id = $1`,
      [deps.runSettings.instanceId],
    )
    const [row] = rows
    if (row) seen.set(Number(row['until']), Number(row['rest']))
    await delay(200)
  }
  const [first = 0, second = 0, third = 0] = [...seen.keys()]
  for (const rest of seen.values()) expect(rest).toBeGreaterThan(0)
  // Timers may come late, never early by more than their own rounding.
  for (const between of [second - first, third - second]) expect(between).toBeGreaterThan(2_000)
}, 120_000)
