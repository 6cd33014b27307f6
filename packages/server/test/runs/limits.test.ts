import { randomUUID } from 'node:crypto'
import type { Message } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createActiveRuns } from '../../src/features/runs/leases/active-runs.ts'
import { endOrphaned } from '../../src/features/runs/leases/end-orphaned.ts'
import { endAbandoned } from '../../src/features/runs/leases/keep-lease.ts'
import type { RunDeps } from '../../src/features/runs/run-deps.ts'
import { startRun } from '../../src/features/runs/start-run.ts'
import { type RunError, refuse } from '../../src/shared/app-error.ts'
import { addFrame } from '../../src/wire/run-frames.ts'
import { caller, prompt, type RunBench, record, runBench } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>') })
})
afterAll(() => bench.close())

const never = new Promise(() => {})
function start(change: Partial<RunDeps>) {
  const projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  const messages: Message[] = []
  const prompted = { caller, projectId, versionRef: 'live', path: 'hello', parameters: {}, messages }
  return startRun(
    { ...bench.server.deps, runs: { ...bench.server.deps.runs, ...change } },
    { ...prompted, mode: 'stream' },
  )
}

for (const bound of [{ maxEvents: 20 }, { maxEventBytes: 2_000 }]) {
  it(`ends a run and its provider call if it exceeds a limit of its event log (${Object.keys(bound).join()})`, async () => {
    const aborted = bench.fake.aborted
    // An endless answer, which only the run itself can end.
    bench.fake.enqueue({ deltas: Array.from({ length: 200 }, () => 'word '), delayMs: 1, gateAfter: 200, gate: never })
    const run = await start({ settings: { ...bench.server.deps.runs.settings, ...bound } })
    await expect(run.result()).rejects.toMatchObject({
      code: 'ai_run_error',
      message: 'The run outgrew its event log',
      details: { conversationUuid: run.conversationUuid },
    })
    await bench.fake.waitForAbort(aborted + 1)
    expect(await bench.conversation(run.conversationUuid)).toMatchObject({ status: 'error' })
  })
}

it("promise 11: a run's time limit ends an endless slow response", async () => {
  const aborted = bench.fake.aborted
  bench.fake.enqueue({ deltas: Array.from({ length: 10_000 }, () => 'some '), delayMs: 20 })
  const run = await start({ settings: { ...bench.server.deps.runs.settings, runTimeoutMs: 1_000 } })
  await expect(run.result()).rejects.toMatchObject({ code: 'run_timeout_error', details: { seconds: 1 } })
  await bench.fake.waitForAbort(aborted + 1)
  expect(await bench.conversation(run.conversationUuid)).toMatchObject({ status: 'error' })
})

it('does not complete a run whose last events exceed the limit', async () => {
  const { deps } = bench.server
  const outcome = async (maxEvents: number) => {
    bench.fake.enqueue({ text: 'Hello.' })
    const run = await start({ settings: { ...deps.runs.settings, maxEvents } })
    const code = await run.result().then(
      () => undefined,
      (failure: RunError) => failure.code,
    )
    return { code, conversation: await deps.runs.store.findConversation(1, run.conversationUuid) }
  }
  const whole = await outcome(1_000)
  const events = whole.conversation?.lastEventId ?? 0
  expect(await outcome(events)).toMatchObject({ code: undefined, conversation: { status: 'completed' } })
  expect(await outcome(events - 1)).toMatchObject({ code: 'ai_run_error', conversation: { status: 'error' } })
})

it('limits events by bytes, not characters', async () => {
  const outgrown = async (deltas: string[]) => {
    bench.fake.enqueue({ deltas, delayMs: 1 })
    const run = await start({ settings: { ...bench.server.deps.runs.settings, maxEventBytes: 30_000 } })
    return run.result().then(
      () => false,
      ({ code }: RunError) => code === 'ai_run_error',
    )
  }
  expect(await outgrown(Array.from({ length: 100 }, () => 'x'.repeat(100)))).toBe(false)
  expect(await outgrown(Array.from({ length: 100 }, () => '\u6f22'.repeat(100)))).toBe(true)
})

it('shows an end with the cause if its own end cannot be stored, and stores this end later', async () => {
  const { deps } = bench.server
  let tries = 0
  const away = async () => {
    tries += 1
    throw refuse('disk-full')
  }
  // A separate registry, because the server would find the abandoned run and end it within seconds.
  const active = createActiveRuns(1_000_000)
  const settings = { ...deps.runs.settings, storeWaitMs: 600 }
  bench.fake.enqueue({ text: 'Paid for.' })
  const run = await start({ store: { ...deps.runs.store, end: away }, settings, active })
  const frames = run.frames(addFrame)
  let text = ''
  await new Promise<void>((resolve) => {
    const read = () => {
      for (let part = frames.take(); part.length > 0; part = frames.take()) text += part
      if (frames.isAtEnd()) resolve()
    }
    frames.listen(read)
    read()
  })
  expect(tries).toBeGreaterThan(1)
  const error = { errorCode: 'unknown_error', message: 'The run could not be stored' }
  const shown = await record(new Response(text))
  expect(shown.last).toMatchObject({ error: { ...error, details: { reason: 'run-not-stored' } } })
  expect(shown.types.filter((type) => type.startsWith('chain-'))).toEqual(['chain-started', 'chain-error'])
  await expect(run.result()).rejects.toMatchObject({ reason: 'run-not-stored' })
  expect(active.list()).toEqual([])
  expect(await bench.conversation(run.conversationUuid)).toMatchObject({ status: 'running' })

  const abandoned = { ...deps, runs: { ...deps.runs, active } }
  const unavailable = { ...abandoned, runs: { ...abandoned.runs, store: { ...deps.runs.store, end: away } } }
  active.abandon({ runUuid: randomUUID(), conversationUuid: randomUUID(), workspaceId: 1 })
  await expect(endAbandoned(unavailable)).rejects.toMatchObject({ reason: 'disk-full' })
  await endAbandoned(abandoned)
  expect(active.takeAbandoned()).toEqual([])
  const stored = await bench.conversation(run.conversationUuid)
  expect(stored).toMatchObject({ status: 'error', error })
  expect(JSON.stringify(stored['conversation'])).toContain('Paid for.')
  expect((await bench.streamAttach(run.conversationUuid)).text).toBe(text)
})

it('waits for an unavailable database only once more after it was told to give up', async () => {
  const { deps } = bench.server
  let tries = 0
  const away = () => {
    tries += 1
    return Promise.reject(refuse('database-unavailable'))
  }
  const active = createActiveRuns(1_000_000)
  const run = await start({ store: { ...deps.runs.store, end: away }, active })
  await expect.poll(() => tries).toBeGreaterThan(0)
  active.list()[0]?.giveUp()
  await expect(run.result()).rejects.toMatchObject({ reason: 'run-not-stored' })
})

it('shows the end by another process if that process ended the run first', async () => {
  const { deps } = bench.server
  const away = () => Promise.reject(refuse('database-unavailable'))
  const active = createActiveRuns(1_000_000)
  const settings = { ...deps.runs.settings, storeWaitMs: 0 }
  const run = await start({ store: { ...deps.runs.store, end: away }, settings, active })
  await expect(run.result()).rejects.toMatchObject({ code: 'InternalServerError' })
  const found = await deps.runs.store.findConversation(1, run.conversationUuid)
  if (!found?.latestRun) throw new Error('The run is stored')
  expect(await endOrphaned(deps, found, found.latestRun)).toBe(true)
  await endAbandoned({ ...deps, runs: { ...deps.runs, active } })
  const stream = await bench.post(`/conversations/${run.conversationUuid}/attach`, { stream: true })
  expect((await record(stream, { isWhole: false })).types).toEqual(['chain-error'])
})

it('stores an end once the database has returned', async () => {
  const { deps } = bench.server
  let isAway = true
  const flaky: typeof deps.runs.store.end = async (end) => {
    if (!isAway) return deps.runs.store.end(end)
    isAway = false
    throw refuse('database-unavailable')
  }
  const run = await start({ store: { ...deps.runs.store, end: flaky } })
  expect(await run.result()).toMatchObject({ uuid: run.conversationUuid })
  expect(await bench.conversation(run.conversationUuid)).toMatchObject({ status: 'completed' })
})

it('names no conversation if its row cannot be stored, and aborts the provider call', async () => {
  const { deps } = bench.server
  const aborted = bench.fake.aborted
  const calls = bench.fake.requests.length
  bench.fake.enqueue({ deltas: ['half ', 'way'], hang: 'mid-stream' })
  const create = async () => {
    await bench.fake.waitForRequest(calls + 1)
    throw refuse('database-unavailable')
  }
  const run = await start({ store: { ...deps.runs.store, create } })
  // Not 503, because published clients would repeat the run.
  await expect(run.committed).rejects.toMatchObject({ code: 'InternalServerError' })
  await expect(run.result()).rejects.toMatchObject({ code: 'InternalServerError' })
  await bench.fake.waitForAbort(aborted + 1)
  expect(await bench.conversation(run.conversationUuid)).toMatchObject({ name: 'NotFoundError' })
})
