import { afterAll, beforeAll, expect, it } from 'vitest'
import { endOrphaned } from '../../src/features/runs/leases/end-orphaned.ts'
import { orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
  // These tests use owners without a lease. The server must not reap their runs on a slow machine.
  bench.server.deps.runs.settings.sharesDatabase = false
})
afterAll(() => bench.close())

async function runOf(ownerId: string): Promise<{ uuid: string; runUuid: string }> {
  const { conversation, run } = orphanedRun(ownerId)
  await bench.server.deps.runs.store.create(conversation, run)
  return { uuid: conversation.uuid, runUuid: run.uuid }
}

it("promise 4: runs are orphaned when their owner's lease ends, and not before", async () => {
  const { deps } = bench.server
  const me = deps.runs.settings.instanceId
  const living = await runOf('living')
  const dead = await runOf('dead')
  const own = await runOf(me)
  await deps.runs.leases.renew('living', 60_000)
  await deps.runs.leases.renew('dead', 1)
  const lost = async () => (await deps.runs.store.listOrphaned(me)).map(({ uuid }) => uuid)
  await expect.poll(lost).toEqual([dead.uuid])
  await deps.runs.leases.renew('dead', 60_000)
  expect(await lost()).toEqual([])
  await deps.runs.leases.release('dead')
  expect(await lost()).toEqual([dead.uuid])
  for (const { uuid } of [living, own]) expect((await bench.conversation(uuid))['status']).toBe('running')
})

it('promise 5: an owner that resumes after its run was reaped writes nothing', async () => {
  const { deps } = bench.server
  const { uuid, runUuid } = await runOf('paused')
  const found = await deps.runs.store.findConversation(1, uuid)
  const run = found?.latestRun
  if (!run) throw new Error('The run is stored')
  const ends = await Promise.all([1, 2, 3].map(() => endOrphaned(deps, found, run)))
  expect(ends.filter(Boolean)).toHaveLength(1)
  const ended = await deps.runs.store.findConversation(1, uuid)
  expect(ended).toMatchObject({ status: 'error', epoch: 2, latestRun: { uuid: runUuid, epoch: 1 } })
  expect((await bench.streamAttach(uuid)).types).toEqual(['chain-error'])
  expect((await bench.streamAttach(uuid, { 'last-event-id': '57' })).types).toEqual(['chain-error'])
})

it('returns the owner’s runs with a requested stop on renewal', async () => {
  const { deps } = bench.server
  const [one, two] = [await runOf('asked'), await runOf('asked')]
  expect(await deps.runs.leases.renew('asked', 60_000)).toEqual([])
  expect(await deps.runs.store.requestStop(one.runUuid)).toBe(true)
  expect(await deps.runs.store.requestStop(one.runUuid)).toBe(false)
  expect(await deps.runs.leases.renew('asked', 60_000)).toEqual([one.runUuid])
  expect((await bench.conversation(two.uuid))['status']).toBe('running')
})
