import { afterAll, beforeAll, expect, it } from 'vitest'
import { attachRun } from '../../src/features/conversations/attach-conversation.ts'
import { queueChat } from '../../src/features/conversations/continue-conversation.ts'
import { findConversation, findRunByUuid } from '../../src/features/conversations/find-conversation.ts'
import { stopRun } from '../../src/features/conversations/stop-conversation.ts'
import { startQueuedRun } from '../../src/features/runs/queue/work-run-queue.ts'
import { gate } from '../support/gate.ts'
import { caller, prompt, type RunBench, runBench, textOf, userMessage } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench(
    { hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\n'), data: prompt('<user>{{ data }}</user>') },
    { STET_WORKERS: '2', STET_MAX_QUEUED_PER_KEY: '3' },
  )
})
afterAll(() => bench.close())

it('returns the uuid, runs without a reader, and ends like any other run', async () => {
  bench.fake.enqueue({ text: 'Hello Ada' })
  const answer = await bench.run('hello', { background: true, parameters: { name: 'Ada' } })
  expect(answer.status).toBe(200)
  expect(Object.keys(answer.body)).toEqual(['uuid'])
  expect(answer.headers.get('x-conversation-uuid')).toBe(answer.body['uuid'])
  const uuid = String(answer.body['uuid'])
  expect((await bench.attach(uuid)).body).toMatchObject({
    uuid,
    response: { text: 'Hello Ada' },
    toolRequests: [],
    source: { documentUuid: expect.any(String), commitUuid: expect.any(String) },
  })
  expect(await bench.conversation(uuid)).toMatchObject({ status: 'completed', origin: 'background' })
  expect(bench.fake.requests.at(-1)?.body['stream']).toBe(true)
})

it('starts runs in order if there are more than workers, and limits the number per key', async () => {
  const [one, other] = [gate(), gate()]
  const calls = bench.fake.requests.length
  bench.fake.enqueue({ gate: one.opened, text: 'a' }, { gate: other.opened, text: 'b' })
  const first = [await bench.background('hello'), await bench.background('hello')]
  await bench.fake.waitForRequest(calls + 2)
  const waiting: string[] = []
  for (const name of ['1', '2']) waiting.push(await bench.background('hello', { parameters: { name } }))
  const third = { background: true, parameters: { name: '3' } }
  const keyed = async () => String((await bench.run('hello', third, { 'idempotency-key': 'waits' })).body['uuid'])
  waiting.push(await keyed())
  for (const uuid of waiting) {
    expect(await bench.conversation(uuid)).toMatchObject({ status: 'queued', conversation: [], endedAt: null })
    expect((await bench.chat(uuid, { messages: [{ role: 'user', content: 'x' }] })).status).toBe(409)
  }
  const refused = await bench.run('hello', { background: true })
  expect(refused).toMatchObject({ status: 503, body: { name: 'ServiceUnavailableError' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await bench.server.deps.runs.store.listQueued()).toHaveLength(3)
  expect(await keyed()).toBe(waiting[2])
  const [firstWaiting = ''] = waiting
  const attached = bench.streamAttach(firstWaiting)
  // One worker stays busy, so the other one runs all queued runs in order.
  one.open()
  await bench.fake.waitForRequest(calls + 5)
  other.open()
  const results = await Promise.all([...first, ...waiting].map((uuid) => bench.attach(uuid)))
  expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect((await attached).types.at(-1)).toBe('chain-completed')
  const asked = bench.fake.requests.slice(calls + 2).map(({ body }) => JSON.stringify(body['messages']))
  expect(asked.map((messages) => /Hi (\d)/.exec(messages)?.[1])).toEqual(['1', '2', '3'])
})

it('queues chats within the same limit, and stores nothing of a refused or stopped one but its messages', async () => {
  const { deps } = bench.server
  const calls = bench.fake.requests.length
  const uuids = await Promise.all([0, 1, 2].map(async () => String((await bench.run('hello')).body['uuid'])))
  const latest = (conversationUuid = '') => findConversation(deps, { caller, conversationUuid })
  const chat = async (at: number, text: string) =>
    queueChat(deps, { caller, messages: [userMessage(text)] }, { found: await latest(uuids[at]), isLatest: true })
  const held = gate()
  bench.fake.enqueue({ gate: held.opened, text: 'a' }, { gate: held.opened, text: 'b' })
  const busy = [await bench.background('hello'), await bench.background('hello')]
  await bench.fake.waitForRequest(calls + 5)
  const started = await chat(0, 'one')
  const stopped = await chat(1, 'two')
  await expect(chat(0, 'again')).rejects.toMatchObject({ reason: 'conversation-busy' })
  // As after an earlier run: a copy of the conversation goes on.
  const copied = { found: await latest(uuids[2]), isLatest: false }
  const forked = await queueChat(deps, { caller, messages: [userMessage('three')] }, copied)
  expect(forked.conversationUuid).not.toBe(uuids[2])
  await expect(chat(2, 'too many')).rejects.toMatchObject({ reason: 'queue-full' })
  expect(await latest(uuids[2])).toMatchObject({ status: 'completed', messages: { length: 2 } })
  const texts = async (uuid = '') => (await latest(uuid)).messages.map(({ content }) => Object(content[0]).text)
  expect(await texts(uuids[0])).toEqual(['Hi', 'Hello from the fake provider.', 'one'])
  expect(await findRunByUuid(deps, { caller, runUuid: started.runUuid })).toMatchObject({ status: 'queued' })
  expect(bench.fake.requests).toHaveLength(calls + 5)
  expect(await stopRun(deps, { caller, runUuid: stopped.runUuid })).toMatchObject({ stopped: true, status: 'stopped' })
  expect(await latest(uuids[1])).toMatchObject({
    status: 'stopped',
    messages: { length: 3 },
    latestRun: { givenFrom: 2, givenCount: 1 },
  })
  // As after a restart: the row has all that the run needs.
  deps.runs.active.takeQueued(started.runUuid)
  held.open()
  for (const { runUuid } of [started, forked]) {
    const run = await attachRun(deps, { caller, runUuid, mode: 'json' }, AbortSignal.timeout(30_000))
    await run?.result()
    expect(await deps.stores.runRecords.findOptional(1, runUuid)).toMatchObject({ mode: 'background', givenFrom: 2 })
  }
  await Promise.all(busy.map((uuid) => bench.attach(uuid)))
  expect(await texts(uuids[0])).toEqual(['Hi', 'Hello from the fake provider.', 'one', 'Hello from the fake provider.'])
  expect(await texts(forked.conversationUuid)).toEqual([
    'Hi',
    'Hello from the fake provider.',
    'three',
    expect.any(String),
  ])
})

it('prefers background over stream, except for SDK 5.0 and 5.1, which read a stream', async () => {
  const body = { background: true, stream: true }
  for (const version of ['5.2.0', '5.10.1', '4.1.9']) {
    const answer = await bench.run('hello', body, { 'x-latitude-sdk-version': version })
    expect(Object.keys(answer.body), version).toEqual(['uuid'])
    await bench.attach(String(answer.body['uuid']))
  }
  for (const version of ['5.0.0-beta.1', '5.1.3']) {
    bench.fake.enqueue({ text: 'Streamed' })
    const recording = await bench.stream('hello', body, { 'x-latitude-sdk-version': version })
    expect(textOf(recording)).toBe('Streamed')
    expect(await bench.conversation(recording.last['uuid'])).toMatchObject({ origin: 'background' })
  }
})

it('refuses an invalid request before anything is queued', async () => {
  expect((await bench.run('missing', { background: true })).status).toBe(404)
  expect(await bench.server.deps.runs.store.listQueued()).toEqual([])
})

it('passes parameters to the prompt with their keys in order', async () => {
  const calls = bench.fake.requests.length
  await bench.attach(await bench.background('data', { parameters: { data: { zeta: 1, alpha: [{ b: 1, a: 2 }] } } }))
  expect(JSON.stringify(bench.fake.requests[calls]?.body['messages'])).toMatch(/zeta.*alpha.*b.*a/)
})

it('lets exactly one of many concurrent claims of a queued run win', async () => {
  const { deps } = bench.server
  const calls = bench.fake.requests.length
  await deps.runs.queue.stop()
  const uuid = await bench.background('hello')
  const [queued] = await deps.runs.store.listQueued()
  await Promise.all(Array.from({ length: 5 }, () => startQueuedRun(deps, queued?.runUuid ?? '')))
  expect((await bench.attach(uuid)).status).toBe(200)
  expect(bench.fake.requests.length).toBe(calls + 1)
})

it('starts a run queued in the same process without reading its row, unless its input is large', async () => {
  const { deps } = bench.server
  await deps.runs.queue.stop()
  let reads = 0
  const findQueued = (runUuid: string) => {
    reads += 1
    return deps.runs.store.findQueued(runUuid)
  }
  for (const [name, expected] of [['Ada', 0] as const, ['x'.repeat(70_000), 1] as const]) {
    const uuid = await bench.background('hello', { parameters: { name } })
    const queued = (await deps.runs.store.listQueued()).at(-1)
    const store = { ...deps.runs.store, findQueued }
    const started = await startQueuedRun({ ...deps, runs: { ...deps.runs, store } }, queued?.runUuid ?? '')
    await started?.ending
    expect(reads).toBe(expected)
    expect((await bench.attach(uuid)).status).toBe(200)
    expect(JSON.stringify(bench.fake.requests.at(-1)?.body['messages'])).toContain(`Hi ${name}`)
  }
})
