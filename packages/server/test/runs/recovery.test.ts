import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endOrphaned } from '../../src/features/runs/leases/end-orphaned.ts'
import { endOrphanedRuns } from '../../src/features/runs/leases/keep-lease.ts'
import type { NewRun, RunEnd } from '../../src/features/runs/ports.ts'
import { noFigures, orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, runBench, systemMessage, userMessage } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    hello: prompt('<user>Hi</user>'),
    greet: prompt('You greet {{ name }}.'),
    broken: prompt('{{ list.join("-") }}'),
  })
  // These tests use owners without a lease. The server must not reap their runs on a slow machine.
  bench.server.deps.runs.settings.sharesDatabase = false
})
afterAll(() => bench.close())

const at = new Date('2026-01-02T03:04:05.678Z')

const rows = (ownerId: string) => orphanedRun(ownerId, at)

function endOf(run: NewRun, change: Partial<RunEnd> = {}): RunEnd {
  return {
    workspaceId: run.workspaceId,
    runUuid: run.uuid,
    conversationUuid: run.conversationUuid,
    epoch: run.epoch,
    epochAfter: run.epoch,
    from: 'running',
    status: 'completed',
    messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }] }],
    lastEventId: 9,
    result: { toolRequests: [], tokenUsage: noUsage, cost: 0, costUnknown: false },
    eventLog: Uint8Array.of(0, 1, 2, 255),
    figures: noFigures,
    endedAt: at,
    ...change,
  }
}

const noUsage = {
  inputTokens: 0,
  outputTokens: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
}

it('has a lease of 10 s, renewed every 3 s, and looks for dead owners every 5 s', () => {
  const lease = { leaseMs: 10_000, renewEveryMs: 3_000, reapEveryMs: 5_000 }
  expect(bench.server.deps.runs.settings.lease).toEqual(lease)
})

it("promise 5: a dead owner's runs get one definite end and later nothing of its own, and this process's runs go on", async () => {
  const { deps } = bench.server
  const lost = rows('a-dead-process')
  const own = rows(deps.runs.settings.instanceId)
  await Promise.all([lost, own].map(({ conversation, run }) => deps.runs.store.create(conversation, run)))

  expect(await endOrphanedRuns(deps)).toBe(1)
  expect(await endOrphanedRuns(deps)).toBe(0)

  const found = await deps.runs.store.findConversation(1, lost.conversation.uuid)
  expect(found).toMatchObject({
    status: 'error',
    epoch: 2,
    lastEventId: 1_000_000,
    latestRun: { status: 'error', lastEventId: 1_000_000, result: { error: { code: 'worker_lost' } } },
  })
  expect(await bench.conversation(lost.conversation.uuid)).toMatchObject({
    status: 'error',
    error: { errorCode: 'worker_lost' },
  })
  expect(await deps.runs.store.findConversation(1, own.conversation.uuid)).toMatchObject({
    status: 'running',
    epoch: 1,
  })
  // The owner resumes after its run was ended, and none of its writes is stored.
  expect(await deps.runs.store.end(endOf(lost.run))).toBe(false)
  const latestRun = found?.latestRun
  if (!latestRun) throw new Error('The run is stored')
  const ends = await Promise.all([1, 2, 3].map(() => endOrphaned(deps, found, latestRun)))
  expect(ends).toEqual([false, false, false])
  expect(await deps.runs.store.findConversation(1, lost.conversation.uuid)).toEqual(found)
  for (const headers of [{}, { 'last-event-id': '57' }] as Record<string, string>[]) {
    expect((await bench.streamAttach(lost.conversation.uuid, headers)).types).toEqual(['chain-error'])
  }
})

it("promise 4: runs are orphaned when their owner's lease ends, and not before", async () => {
  const { leases, settings, store } = bench.server.deps.runs
  const uuids: string[] = []
  for (const ownerId of ['dead', 'living', settings.instanceId]) {
    const { conversation, run } = rows(ownerId)
    await store.create(conversation, run)
    uuids.push(conversation.uuid)
  }
  await leases.renew('living', 60_000)
  await leases.renew('dead', 1)
  const lost = async () => {
    const found = (await store.listOrphaned(settings.instanceId)).map(({ uuid }) => uuid)
    return uuids.filter((uuid) => found.includes(uuid))
  }
  await expect.poll(lost).toEqual([uuids[0]])
  await leases.renew('dead', 60_000)
  expect(await lost()).toEqual([])
  await leases.release('dead')
  expect(await lost()).toEqual([uuids[0]])
  expect(await endOrphanedRuns(bench.server.deps)).toBe(1)
})

it("returns the owner's runs with a requested stop on renewal", async () => {
  const { leases, store } = bench.server.deps.runs
  const [one, two] = [rows('asked'), rows('asked')]
  for (const { conversation, run } of [one, two]) await store.create(conversation, run)
  expect(await leases.renew('asked', 60_000)).toEqual([])
  expect(await store.requestStop(one.run.workspaceId, one.run.uuid)).toBe(true)
  expect(await store.requestStop(one.run.workspaceId, one.run.uuid)).toBe(false)
  expect(await leases.renew('asked', 60_000)).toEqual([one.run.uuid])
  expect(await bench.conversation(two.conversation.uuid)).toMatchObject({ status: 'running' })
})

it('stores the first end, acknowledges a repeated one, and ignores later ones', async () => {
  const { store: runs } = bench.server.deps.runs
  const { conversation, run } = rows('owner')
  await runs.create(conversation, run)
  const end = endOf(run)
  expect(await runs.end({ ...end, epoch: 2 })).toBe(false)
  expect(await runs.end(end)).toBe(true)
  expect(await runs.end(end)).toBe(true)
  expect(await runs.end(endOf(run, { status: 'error', endedAt: new Date(at.getTime() + 1) }))).toBe(false)
  const found = await runs.findConversation(1, conversation.uuid)
  expect(found).toMatchObject({ ...conversation, status: 'completed', lastEventId: 9, messages: [systemMessage('x')] })
  expect(await runs.findConversation(2, conversation.uuid)).toBeNull()
})

it('lets exactly one of many concurrent chats win, and none while a run is active', async () => {
  const { store: runs } = bench.server.deps.runs
  const { conversation, run } = rows('owner')
  await runs.create(conversation, run)
  const claim = () =>
    runs.createNext({ ...run, uuid: randomUUID(), epoch: 2, firstEventId: 10 }, [systemMessage('more')])
  expect(await claim()).toBe(false)
  await runs.end(endOf(run))
  const won = await Promise.all(Array.from({ length: 20 }, claim))
  expect(won.filter(Boolean)).toHaveLength(1)
  expect(await runs.findConversation(1, conversation.uuid)).toMatchObject({
    status: 'running',
    epoch: 2,
    latestRun: { epoch: 2, firstEventId: 10, endedAt: null },
  })
})

it("keeps an orphaned chat's first messages once", async () => {
  const { deps } = bench.server
  const { conversation, run } = rows('owner')
  await deps.runs.store.create(conversation, run)
  await deps.runs.store.end(endOf(run))
  const chat = { ...run, uuid: randomUUID(), epoch: 2, firstEventId: 10 }
  expect(await deps.runs.store.createNext(chat, [userMessage('Are you there?')])).toBe(true)
  expect(await deps.runs.store.createNext(chat, [userMessage('Are you there?')])).toBe(false)
  await endOrphanedRuns(deps)
  const messages = [systemMessage('x'), userMessage('Are you there?')]
  expect(await deps.runs.store.findConversation(1, conversation.uuid)).toMatchObject({ status: 'error', messages })
  const recording = await bench.streamAttach(conversation.uuid)
  expect(recording.last).toMatchObject({ type: 'chain-error', error: { code: 'worker_lost' }, messages })
  expect((await bench.chat(conversation.uuid, { messages: [userMessage('Again')] })).status).toBe(200)
})

it("keeps an orphaned background run's first messages, and a chat continues from them", async () => {
  const { deps } = bench.server
  await deps.runs.queue.stop()
  const parameters = { name: 'Ada' }
  const uuid = await bench.background('greet', { parameters, messages: [userMessage('And Bob')] })
  const broken = await bench.background('broken', { parameters: { list: 1 } })
  for (const { runUuid } of await deps.runs.store.listQueued()) {
    const queued = await deps.runs.store.findQueued(runUuid)
    if (!queued) throw new Error('A run that was just queued is there')
    const { conversation } = queued
    const { run } = rows('a-dead-process')
    const own = { uuid: runUuid, conversationUuid: conversation.uuid, epoch: conversation.epoch + 1 }
    expect(await deps.runs.store.startQueued({ ...run, ...own }, false)).toBe(true)
  }
  expect(await endOrphanedRuns(deps)).toBe(2)
  const messages = [systemMessage('You greet Ada.'), userMessage('And Bob')]
  expect(await deps.runs.store.findConversation(1, uuid)).toMatchObject({ status: 'error', messages })
  expect((await bench.streamAttach(uuid)).last).toMatchObject({ error: { code: 'worker_lost' }, messages })
  // A prompt that cannot be rendered ends like the others.
  expect(await deps.runs.store.findConversation(1, broken)).toMatchObject({ status: 'error', messages: [] })
  const calls = bench.fake.requests.length
  expect((await bench.chat(uuid, { messages: [userMessage('Again')] })).status).toBe(200)
  expect(JSON.stringify(bench.fake.requests[calls]?.body['messages'])).toMatch(/greet Ada.*And Bob.*Again/)
  const { rows: left } = await bench.server.database.session.query('SELECT uuid FROM run WHERE input IS NOT NULL')
  expect(left).toEqual([])
})
