import { afterAll, beforeAll, expect, it } from 'vitest'
import { pauseAfterSave } from '../../src/features/runs/events/run-recorder.ts'
import { endOrphanedRuns } from '../../src/features/runs/leases/keep-lease.ts'
import { orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, record, runBench, textOf } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>'), lead: prompt('<user>Go</user>', 'agents: [hello]\n') })
  // The owner of the lost run has no lease. The server must not reap it by itself.
  bench.server.deps.runs.settings.sharesDatabase = false
})
afterAll(() => bench.close())

it.each<[string, { plainBytes: number; storedBytes: number }, number]>([
  ['a small event log', { plainBytes: 20_000, storedBytes: 4_000 }, 20],
  ['one that does not compress', { plainBytes: 5 * 2 ** 20, storedBytes: 4 * 2 ** 20 }, 16_384],
  ['one that compresses well', { plainBytes: 18 * 2 ** 20, storedBytes: 300_000 }, 18_432],
])('saves %s less often the more it costs', (_name, size, pauseMs) => {
  expect(pauseAfterSave(size)).toBeCloseTo(pauseMs, -1)
})

it('promise 4: a lost background run keeps the words that its owner had saved, then ends with worker_lost', async () => {
  const { store, codec } = bench.server.deps.runs
  // The first call is complete and paid. The second one was under way.
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'unknown', arguments: '{}' }] })
  bench.fake.enqueue({ text: 'Three words arrived', hang: 'mid-stream' })
  const uuid = await bench.background('hello')
  const saved = async () => {
    const owned = (await store.findConversation(1, uuid))?.latestRun
    return owned ? store.findEventLog(1, owned.uuid) : null
  }
  const savedFrames = async () => {
    const log = await codec.unpackEventLog((await saved()) ?? Buffer.of())
    return log?.entries.map((entry) => ('bytes' in entry ? entry.bytes.toString() : '')).join('')
  }
  await expect.poll(savedFrames).toContain('Three')
  const eventLog = await saved()

  const { conversation, run } = orphanedRun('a-dead-process')
  await store.create(conversation, run)
  await store.saveEventLog({ ...run, epoch: 2 }, Uint8Array.of(9))
  expect(await store.findEventLog(1, run.uuid)).toBeNull()
  await store.saveEventLog(run, eventLog ?? Uint8Array.of())
  expect(await endOrphanedRuns(bench.server.deps)).toBe(1)

  const attached = await bench.post(`/conversations/${conversation.uuid}/attach`, { stream: true })
  const recording = await record(attached)
  expect(textOf(recording)).toMatch(/^Three/)
  expect(recording.last).toMatchObject({
    type: 'chain-error',
    error: { errorCode: 'worker_lost' },
    // The first call was counted. The second one is estimated.
    tokenUsage: { promptTokens: 12 + 1 },
  })
  expect(await bench.conversation(conversation.uuid)).toMatchObject({
    conversation: [
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
      { role: 'assistant', content: [{ type: 'text', text: textOf(recording) }] },
    ],
  })
  const { rows } = await bench.server.database.session.query('SELECT * FROM run WHERE uuid = $1', [run.uuid])
  expect(rows).toMatchObject([{ provider: 'openai', model: 'gpt-4o', finish_reason: null, usage_estimated: true }])
  const stored = await store.findEventLog(1, run.uuid)
  await store.saveEventLog(run, Uint8Array.of(9))
  expect(await store.findEventLog(1, run.uuid)).toEqual(stored)
  await bench.stop(uuid)
})

it('a lost background run counts the tokens of its agents, also of the one under way', async () => {
  const { store, codec } = bench.server.deps.runs
  bench.fake.enqueue({ toolCalls: [{ id: 'a', name: 'lat_agent_hello', arguments: '{}' }] })
  bench.fake.enqueue({ toolCalls: [{ id: 'b', name: 'unknown', arguments: '{}' }] })
  bench.fake.enqueue({ text: 'Three words arrived', hang: 'mid-stream' })
  const uuid = await bench.background('lead')
  let eventLog: Uint8Array = Uint8Array.of()
  const saved = async () => {
    const owned = (await store.findConversation(1, uuid))?.latestRun
    eventLog = (owned && (await store.findEventLog(1, owned.uuid))) ?? Uint8Array.of()
    const log = await codec.unpackEventLog(Buffer.from(eventLog))
    return [log?.underWay?.spending.tokenUsage.promptTokens, log?.underWay?.facts.isUsageEstimated]
  }
  // The call of the parent and the first one of the agent were counted. The last one is estimated.
  await expect.poll(saved, { timeout: 10_000 }).toEqual([12 + 12 + 1, true])

  const { conversation, run } = orphanedRun('a-dead-process')
  await store.create(conversation, run)
  await store.saveEventLog(run, eventLog)
  expect(await endOrphanedRuns(bench.server.deps)).toBe(1)
  const { rows } = await bench.server.database.session.query('SELECT * FROM run WHERE uuid = $1', [run.uuid])
  expect(rows).toMatchObject([{ input_tokens: 12 + 12 + 1, usage_estimated: true }])
  await bench.stop(uuid)
})
