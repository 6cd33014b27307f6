import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { refuse } from '../../src/shared/app-error.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

/** Longer than all intervals together, even on a busy machine. */
const patienceMs = 90_000

const leaseMs = 10_000

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
  // The same setting as on a database that several processes may use.
  bench.server.deps.runs.settings.sharesDatabase = true
})
afterAll(() => bench.close())

async function runOf(ownerId: string): Promise<string> {
  const { conversation, run } = orphanedRun(ownerId)
  await bench.server.deps.runs.store.create(conversation, run)
  return conversation.uuid
}

const statusOf = async (uuid: string) => (await bench.conversation(uuid))['status']

/** Makes one lease renewal fail. Resolves at the next one, when the process is healthy again. */
async function recovery(): Promise<number> {
  const { leases } = bench.server.deps.runs
  const { renew } = leases
  const moments: number[] = []
  leases.renew = async (...lease) => {
    moments.push(performance.now())
    if (moments.length === 1) throw refuse('database-unavailable')
    return renew(...lease)
  }
  await expect.poll(() => moments.length, { timeout: patienceMs }).toBeGreaterThan(1)
  leases.renew = renew
  return moments[1] ?? 0
}

it("promise 4: a process ends a dead process's runs after it has been healthy for 10 seconds", async () => {
  const { leases, settings } = bench.server.deps.runs
  const wellAt = await recovery()
  await leases.renew('living', 600_000)
  await leases.renew('dead', 1)
  const [living, dead, own] = [await runOf('living'), await runOf('dead'), await runOf(settings.instanceId)]
  await expect.poll(() => statusOf(dead), { timeout: patienceMs, interval: 100 }).toBe('error')
  expect(performance.now() - wellAt).toBeGreaterThan(leaseMs)
  expect(await bench.conversation(dead)).toMatchObject({ error: { errorCode: 'worker_lost' } })
  expect((await bench.streamAttach(dead)).types).toEqual(['chain-error'])
  expect([await statusOf(living), await statusOf(own)]).toEqual(['running', 'running'])
}, 240_000)

it("promise 4: processes that were paused together do not end each other's runs", async () => {
  const { leases, active: activeRuns } = bench.server.deps.runs
  const { takeAbandoned } = activeRuns
  let looks = 0
  activeRuns.takeAbandoned = () => {
    looks += 1
    return takeAbandoned.call(activeRuns)
  }
  onTestFinished(() => {
    activeRuns.takeAbandoned = takeAbandoned
  })
  const nextLook = async (after = looks) => expect.poll(() => looks, { timeout: patienceMs }).toBeGreaterThan(after)
  await nextLook()
  // A lease with 7 s left ends after 7.5 s. This process renewed its own at most 2 s ago, so its 10 s have not
  // passed.
  await leases.renew('paused', 7_000)
  const uuid = await runOf('paused')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7_500)
  await nextLook()
  await leases.renew('paused', 600_000)
  await nextLook()
  expect(await statusOf(uuid)).toBe('running')
}, 240_000)

it('renews the lease every 3 s, long before it ends', async () => {
  const { deps, database } = bench.server
  const { leases, settings } = deps.runs
  const { renew } = leases
  const heard = startHeardTime()
  const renewals: { at: number; heardMs: number; lengthMs: number }[] = []
  leases.renew = (ownerId, lengthMs) => {
    renewals.push({ at: performance.now(), heardMs: heard.passedMs(), lengthMs })
    return renew(ownerId, lengthMs)
  }
  onTestFinished(() => {
    leases.renew = renew
    heard.stop()
  })
  const storedEnd = async () => {
    const query = 'SELECT extract(epoch FROM lease_until) AS until FROM instance WHERE id = $1'
    const { rows } = await database.session.query(query, [settings.instanceId])
    return Number(rows[0]?.['until'] ?? 0)
  }
  const before = await storedEnd()
  await expect.poll(() => renewals.length, { timeout: patienceMs }).toBeGreaterThan(3)
  await expect.poll(storedEnd).toBeGreaterThan(before)
  for (const [place, { at, heardMs, lengthMs }] of renewals.slice(1).entries()) {
    expect(lengthMs).toBe(leaseMs)
    // Timers may be late, but are early at most by their rounding.
    expect(at - (renewals[place]?.at ?? 0)).toBeGreaterThan(2_900)
    expect(heardMs - (renewals[place]?.heardMs ?? 0)).toBeLessThan(leaseMs / 2)
  }
}, 120_000)
