import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { refuse } from '../../src/shared/app-error.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

/** Longer than all intervals together, even on a busy machine. */
const patienceMs = 90_000

/** A fifth of the default lease, renewed more often, so that a busy machine renews it in time. */
const lease = { leaseMs: 2_000, renewEveryMs: 200, reapEveryMs: 400 }

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }, {}, { lease })
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

it("promise 4: a process ends a dead process's runs after it has been healthy for the length of a lease", async () => {
  const { leases, settings } = bench.server.deps.runs
  const wellAt = await recovery()
  await leases.renew('living', 600_000)
  await leases.renew('dead', 1)
  const [living, dead, own] = [await runOf('living'), await runOf('dead'), await runOf(settings.instanceId)]
  await expect.poll(() => statusOf(dead), { timeout: patienceMs, interval: 50 }).toBe('error')
  expect(performance.now() - wellAt).toBeGreaterThan(lease.leaseMs)
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
  await leases.renew('paused', 600_000)
  const uuid = await runOf('paused')
  await nextLook()
  // The other process's lease ends within the pause, and this process renewed its own just before.
  await leases.renew('paused', 1_600)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_750)
  await nextLook()
  await leases.renew('paused', 600_000)
  await nextLook()
  expect(await statusOf(uuid)).toBe('running')
}, 240_000)

it('renews the lease in each interval, long before it ends', async () => {
  const { deps, database } = bench.server
  const { leases, settings } = deps.runs
  const { renew } = leases
  const moments: number[] = []
  const lengths = new Set<number>()
  leases.renew = (ownerId, lengthMs) => {
    moments.push(performance.now())
    lengths.add(lengthMs)
    return renew(ownerId, lengthMs)
  }
  onTestFinished(() => {
    leases.renew = renew
  })
  const storedEnd = async () => {
    const query = 'SELECT extract(epoch FROM lease_until) AS until FROM instance WHERE id = $1'
    const { rows } = await database.session.query(query, [settings.instanceId])
    return Number(rows[0]?.['until'] ?? 0)
  }
  const before = await storedEnd()
  await expect.poll(() => moments.length, { timeout: patienceMs }).toBeGreaterThan(3)
  await expect.poll(storedEnd).toBeGreaterThan(before)
  expect([...lengths]).toEqual([lease.leaseMs])
  // Timers may be late, and the next one then comes early, but four of them take three intervals.
  expect((moments[3] ?? 0) - (moments[0] ?? 0)).toBeGreaterThan(2 * lease.renewEveryMs)
}, 120_000)

it('promise 7: a stop whose signal was lost reaches the owner with the lease renewal', async () => {
  const { active: activeRuns, leases, store: runs } = bench.server.deps.runs
  const [calls, aborts] = [bench.fake.requests.length, bench.fake.aborted]
  bench.fake.enqueue({ deltas: ['half ', 'way'], hang: 'mid-stream' })
  const uuid = await bench.background('hello')
  await bench.fake.waitForRequest(calls + 1)
  const runUuid = activeRuns.list().find((run) => run.conversationUuid === uuid)?.runUuid ?? ''
  const { renew } = leases
  const heard = startHeardTime()
  let toldMs: number | undefined
  leases.renew = async (...lease) => {
    const toStop = await renew(...lease)
    if (toStop.includes(runUuid)) toldMs ??= heard.passedMs()
    return toStop
  }
  onTestFinished(() => {
    leases.renew = renew
    heard.stop()
  })
  expect(await runs.requestStop(1, runUuid)).toBe(true)
  await bench.fake.waitForAbort(aborts + 1)
  // The second that every stop has after its response.
  expect(heard.passedMs() - (toldMs ?? Number.NaN)).toBeLessThan(1_000)
  expect((await bench.attach(uuid)).body).toMatchObject({ errorCode: 'abort_error' })
}, 120_000)
