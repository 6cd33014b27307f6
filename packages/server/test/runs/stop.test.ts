import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { count, timeFor } from '../support/counts.ts'
import { startHeardTime } from '../support/heard-time.ts'
import { orphanedRun } from './orphaned-run.ts'
import { prompt, type RunBench, record, runBench } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ hello: prompt('<user>Hi</user>', 'maxRetries: 0\n') }, { STET_WORKERS: '1' })
})
afterAll(() => bench.close())

const hanging = { deltas: ['half ', 'way'], hang: 'mid-stream' } as const

/** Measures the milliseconds since the next stop was recorded. The database's time does not count toward the run. */
function timeSinceStop(): () => number {
  const { store: runs } = bench.server.deps.runs
  const { requestStop } = runs
  const heard = startHeardTime()
  let recordedMs = 0
  runs.requestStop = async (...stop) => {
    const isFirst = await requestStop(...stop)
    recordedMs = heard.passedMs()
    return isFirst
  }
  onTestFinished(() => {
    runs.requestStop = requestStop
    heard.stop()
  })
  return () => heard.passedMs() - recordedMs
}

for (const kind of ['stream', 'background', 'json'] as const) {
  it(`promise 7: ${kind}: the provider call ends within a second, and the stopped run keeps its partial response`, async () => {
    const calls = bench.fake.requests.length
    const aborts = bench.fake.aborted
    bench.fake.enqueue(kind === 'json' ? { text: 'half', hang: 'after-head' } : hanging)
    const opened = kind === 'background' ? undefined : bench.open('hello', { stream: kind === 'stream' })
    const background = kind === 'background' ? await bench.background('hello') : ''
    await bench.fake.waitForRequest(calls + 1)
    const [active] = bench.server.deps.runs.active.list()
    const uuid = active?.conversationUuid ?? background
    const sinceRecorded = timeSinceStop()
    const stopping = bench.stop(uuid)
    await bench.fake.waitForAbort(aborts + 1)
    expect(sinceRecorded()).toBeLessThan(1_000)
    expect((await stopping).body).toEqual({ uuid, stopped: true, status: 'stopped' })
    expect((await bench.stop(uuid)).body).toEqual({ uuid, stopped: false, status: 'stopped' })
    expect(await bench.conversation(uuid)).toMatchObject({ status: 'stopped', error: { errorCode: 'abort_error' } })
    expect(await bench.attach(uuid)).toMatchObject({
      status: 422,
      body: { errorCode: 'abort_error', details: { reason: 'stop', conversationUuid: uuid } },
    })
    if (kind === 'stream' && opened) {
      const { last } = await record(await opened)
      expect(last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
    }
    if (kind === 'json') expect((await opened)?.status).toBe(422)
  })
}

it('promise 7: a stopped queued run never starts, and its readers get the end', async () => {
  const calls = bench.fake.requests.length
  bench.fake.enqueue(hanging)
  const busy = await bench.background('hello')
  await bench.fake.waitForRequest(calls + 1)
  const queued = await bench.background('hello')
  const waiting = bench.streamAttach(queued)
  const result = bench.attach(queued)
  const answers = await Promise.all(Array.from({ length: 5 }, () => bench.stop(queued)))
  expect(answers.map(({ body }) => body['status'])).toEqual(Array(5).fill('stopped'))
  expect(answers.filter(({ body }) => body['stopped'] === true)).toHaveLength(1)
  expect((await waiting).types).toEqual(['chain-error'])
  expect((await result).body).toMatchObject({ errorCode: 'abort_error' })
  expect((await bench.streamAttach(queued)).text).toBe((await waiting).text)
  await bench.stop(busy)
  const answer = await bench.chat(queued, { messages: [{ role: 'user', content: 'And now?' }] })
  expect(answer.status).toBe(200)
  expect(bench.fake.requests.length).toBe(calls + 2)
})

it('promise 7: a queued run whose stop signal was lost never starts, even in its turn', async () => {
  const { store: runs } = bench.server.deps.runs
  const calls = bench.fake.requests.length
  bench.fake.enqueue(hanging)
  const busy = await bench.background('hello')
  await bench.fake.waitForRequest(calls + 1)
  const queued = await bench.background('hello')
  const found = await runs.findConversation(1, queued)
  const run = found?.latestRun
  if (!found || !run) throw new Error('The run is stored')
  expect(await runs.requestStop(1, run.uuid)).toBe(true)
  // Between queue and start: a worker that checked the run before the stop cannot start it.
  const { uuid, firstEventId, createdAt } = run
  const { via } = found
  const owner = { conversationUuid: queued, workspaceId: found.workspaceId, ownerId: 'late', epoch: run.epoch + 1 }
  expect(await runs.startQueued({ uuid, firstEventId, via, createdAt, ...owner }, false)).toBe(false)
  const waiting = bench.streamAttach(queued)
  await bench.stop(busy)
  expect((await waiting).types).toEqual(['chain-error'])
  expect(await bench.conversation(queued)).toMatchObject({ status: 'stopped', error: { errorCode: 'abort_error' } })
  expect(bench.fake.requests.length).toBe(calls + 1)
})

it("responds to a stop of another process's run, or of an orphaned run, after the stop wait", async () => {
  const { store: runs, eventLog, settings } = bench.server.deps.runs
  const { stopWaitMs } = settings
  onTestFinished(() => {
    settings.stopWaitMs = stopWaitMs
  })
  settings.stopWaitMs = 50
  const { conversation, run } = orphanedRun(settings.instanceId)
  await runs.create(conversation, run)
  eventLog.expect(run.uuid)
  const { body } = await bench.stop(conversation.uuid)
  expect(body).toMatchObject({ uuid: conversation.uuid, stopped: true, status: 'running' })
  expect((await bench.api('GET', '/projects')).status).toBe(200)
})

const cases = count(15, 200)

it(
  'promise 7: a stop at any moment between queue and end leaves one definite end',
  async () => {
    bench.fake.setDefault({ deltas: ['a ', 'b ', 'c'], delayMs: 3 })
    for (let index = 0; index < cases; index += 1) {
      const uuid = await bench.background('hello')
      await new Promise((resolve) => setTimeout(resolve, (index % 15) * 2))
      const { body } = await bench.stop(uuid)
      const recording = await bench.streamAttach(uuid)
      expect(body['status']).toBe(recording.types.at(-1) === 'chain-completed' ? 'completed' : 'stopped')
      expect((await bench.conversation(uuid))['status']).toBe(body['status'])
    }
    bench.fake.setDefault({ text: 'Hello.' })
  },
  timeFor(cases, 500),
)

it('changes no ended conversation, returns 404 for an unknown one, and ignores the body', async () => {
  const { body } = await bench.run('hello')
  const uuid = String(body['uuid'])
  const headers = { 'content-type': 'text/plain' }
  const answer = await bench.api('POST', `/conversations/${uuid}/stop`, { body: 'not { JSON', headers })
  expect(answer).toMatchObject({ status: 200, body: { uuid, stopped: false, status: 'completed' } })
  expect((await bench.stop(randomUUID())).body).toMatchObject({ message: 'Conversation not found' })
  expect((await bench.stop('nonsense')).status).toBe(404)
})
