import { randomUUID } from 'node:crypto'
import type { Message } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresRunStore } from '../../src/adapters/database/stores/run-store.ts'
import { createWriteBatch } from '../../src/adapters/database/write-batch.ts'
import { createRunEventLog } from '../../src/adapters/in-process/run-event-log.ts'
import { joinRun } from '../../src/features/conversations/attach-conversation.ts'
import { continueConversation } from '../../src/features/conversations/continue-conversation.ts'
import type { Deps } from '../../src/features/deps.ts'
import { startOnce } from '../../src/features/idempotency/answer-once.ts'
import { claimFor } from '../../src/features/idempotency/idempotency-key.ts'
import type { Claim } from '../../src/features/idempotency/ports.ts'
import type { StartedRun } from '../../src/features/runs/events/watch-run.ts'
import { createActiveRuns } from '../../src/features/runs/leases/active-runs.ts'
import { startRun } from '../../src/features/runs/start-run.ts'
import type { ApiAnswer } from '../http/api-call.ts'
import { gate } from '../support/gate.ts'
import { caller, prompt, type Recording, type RunBench, record, runBench, textOf } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    hello: prompt('<user>Hi {{ name }}</user>'),
    typed: prompt('<user>{{ count }}</user>', 'parameters:\n  count: { type: number, required: true }\n'),
    changing: prompt('<user>First</user>'),
    calling: prompt('<user>Call</user>', 'tools:\n  - look: { description: d, parameters: { type: object } }\n'),
  })
})
afterAll(() => bench.close())

const claimOf = (path: string): Claim =>
  claimFor({ apiKeyId: 1, method: 'POST', path, key: randomUUID(), body: { any: 1 } })

function promptedRun() {
  const projectId = Number(/projects\/(\d+)/.exec(bench.live)?.[1])
  return {
    caller,
    projectId,
    versionRef: 'live',
    path: 'hello',
    parameters: {},
    messages: [],
    omitsToolsRequested: true,
  }
}

const keyed = (key: string, more: Record<string, string> = {}) => ({ 'idempotency-key': key, ...more })
const user = (text: string) => ({ messages: [{ role: 'user', content: text }] })

/** Holds the provider's next answer. Returns a function that releases it. */
function holdNextAnswer(text: string): () => void {
  const { opened, open } = gate()
  bench.fake.enqueue({ text, gate: opened, gateAfter: 0 })
  return open
}

/** Removes the run's state from this process, as a restart would. */
async function forgetInMemory(uuid: unknown): Promise<void> {
  bench.server.deps.runs.active.forget(String(uuid))
}

function expectReplayed({ headers }: ApiAnswer | Recording): void {
  expect(headers.get('idempotency-replayed')).toBe('true')
}

describe('repeated run', () => {
  it("streams the same run's events from the first one, with the same bytes", async () => {
    const key = randomUUID()
    const calls = bench.fake.requests.length
    const letGo = holdNextAnswer('Streamed to all')
    const first = bench.stream('hello', {}, keyed(key))
    await bench.fake.waitForRequest(calls + 1)
    const during = bench.stream('hello', {}, keyed(key))
    letGo()
    const whole = await first
    expect(textOf(whole)).toBe('Streamed to all')
    expect((await during).text).toBe(whole.text)
    const after = await bench.stream('hello', {}, keyed(key))
    expect(after.text).toBe(whole.text)
    for (const repetition of [await during, after]) {
      expectReplayed(repetition)
      expect(repetition.headers.get('x-conversation-uuid')).toBe(whole.last['uuid'])
    }
    expect(bench.fake.requests.length).toBe(calls + 1)
  })

  it("returns the same uuid in the background; SDK 5.0 and 5.1 that request a stream get the same run's stream", async () => {
    const key = randomUUID()
    const calls = bench.fake.requests.length
    const first = await bench.run('hello', { background: true, stream: true }, keyed(key))
    const again = await bench.run('hello', { background: true, stream: true }, keyed(key))
    expect(again).toMatchObject({ status: 200, body: { uuid: first.body['uuid'] } })
    expectReplayed(again)
    const old = { 'x-latitude-sdk-version': '5.1.3' }
    const streamed = await bench.stream('hello', { background: true }, keyed(key, old))
    expect(streamed.last).toMatchObject({ type: 'chain-completed', uuid: first.body['uuid'] })
    expectReplayed(streamed)
    const own = await bench.stream('hello', { background: true }, keyed(randomUUID(), old))
    expect(own.last['uuid']).not.toBe(first.body['uuid'])
    expect(bench.fake.requests.length).toBe(calls + 2)
  })

  it('returns the same result after changes to the conversation and the prompt', async () => {
    const [json, stream] = [randomUUID(), randomUUID()]
    const first = await bench.run('changing', {}, keyed(json))
    const streamed = await bench.stream('changing', {}, keyed(stream))
    for (const uuid of [first.body['uuid'], streamed.last['uuid']]) {
      expect((await bench.chat(uuid, user('And then?'))).status).toBe(200)
      await forgetInMemory(uuid)
    }
    await bench.api('POST', `${bench.live}/documents/create-or-update`, {
      body: { path: 'changing', prompt: '{{ broken', force: true },
    })
    expect((await bench.run('changing', {}, keyed(json))).body).toEqual(first.body)
    expect((await bench.stream('changing', {}, keyed(stream))).text).toBe(streamed.text)
    expect((await bench.run('changing')).status).toBe(422)

    await bench.server.database.session.query('UPDATE run SET event_log = NULL')
    await bench.server.deps.runs.active.forget(String(streamed.last['uuid']))
    const [claimed] = (
      await bench.server.database.session.query(
        'SELECT run_uuid::text AS run FROM idempotency_record WHERE conversation_uuid = $1::uuid',
        [streamed.last['uuid']],
      )
    ).rows
    const found = await bench.server.deps.runs.store.findRun(1, String(claimed?.['run']))
    expect(found?.messages).toEqual(streamed.last['messages'])
  })

  it.each([
    ['result', { text: 'Hello' }, 200],
    ['failure', { status: 401, body: { error: { message: 'no such key' } } }, 422],
  ] as const)('returns the same %s without a second model call, also from the database', async (_, reply, status) => {
    const key = randomUUID()
    const calls = bench.fake.requests.length
    bench.fake.enqueue(reply)
    const run = () => bench.run('hello', { parameters: { name: 'Ada' } }, keyed(key))
    const first = await run()
    expect(first.status).toBe(status)
    expect(first.headers.has('idempotency-replayed')).toBe(false)
    for (let repetition = 0; repetition < 2; repetition += 1) {
      const again = await run()
      expect(again).toMatchObject({ status, body: first.body })
      expectReplayed(again)
      expect(again.headers.get('x-conversation-uuid')).toBe(first.headers.get('x-conversation-uuid'))
      await forgetInMemory(first.headers.get('x-conversation-uuid'))
    }
    expect(bench.fake.requests.length).toBe(calls + 1)
  })

  it('returns a stored 422 if the run was refused before it began; 404 and 400 are not stored', async () => {
    const key = randomUUID()
    const refused = await bench.run('typed', {}, keyed(key))
    expect(refused).toMatchObject({ status: 422, body: { details: { missing: ['count'] } } })
    expect(refused.headers.has('idempotency-replayed')).toBe(false)
    const again = await bench.run('typed', {}, keyed(key))
    expect(again).toMatchObject({ status: 422, text: refused.text })
    expectReplayed(again)
    expect((await bench.run('typed', { parameters: { count: 1 } }, keyed(key))).body['message']).toMatch(/different/)

    const late = randomUUID()
    expect((await bench.run('late', {}, keyed(late))).status).toBe(404)
    const body = { path: 'late', prompt: prompt('<user>Now</user>'), force: true }
    expect((await bench.api('POST', `${bench.live}/documents/create-or-update`, { body })).status).toBe(200)
    expect((await bench.run('late', {}, keyed(late))).status).toBe(200)
    expect((await bench.run('hello', {}, keyed('x'.repeat(256)))).status).toBe(400)
  })
})

describe('repeated chat', () => {
  it('returns the same run, both while it is in progress and after a later one', async () => {
    const { body } = await bench.run('hello')
    const key = randomUUID()
    const calls = bench.fake.requests.length
    const letGo = holdNextAnswer('Chatted')
    const first = bench.chat(body['uuid'], user('Go on'), keyed(key))
    await bench.fake.waitForRequest(calls + 1)
    expect((await bench.chat(body['uuid'], user('Another'), keyed(randomUUID()))).status).toBe(409)
    const during = bench.chat(body['uuid'], user('Go on'), keyed(key))
    letGo()
    const answer = await first
    expect(answer).toMatchObject({ status: 200, body: { response: { text: 'Chatted' } } })
    expect((await during).text).toBe(answer.text)
    expect((await bench.chat(body['uuid'], user('Further'))).status).toBe(200)
    const later = await bench.chat(body['uuid'], user('Go on'), keyed(key))
    expect(later).toMatchObject({ status: 200, body: answer.body })
    expectReplayed(later)
    expect((await bench.chat(body['uuid'], user('Other'), keyed(key))).status).toBe(422)
    expect(bench.fake.requests.length).toBe(calls + 2)
    const read = await bench.conversation(body['uuid'])
    expect(JSON.stringify(read['conversation']).split('Go on')).toHaveLength(2)
  })

  it('streams the same events; the 409 of a busy conversation is not stored', async () => {
    const { body } = await bench.run('hello')
    const path = `/conversations/${String(body['uuid'])}/chat`
    const send = async (text: string, key: string) =>
      record(await bench.post(path, { ...user(text), stream: true }, keyed(key)))
    const key = randomUUID()
    const calls = bench.fake.requests.length
    const letGo = holdNextAnswer('Once')
    const blocking = send('Blocking', randomUUID())
    await bench.fake.waitForRequest(calls + 1)
    expect((await bench.post(path, { ...user('Later'), stream: true }, keyed(key))).status).toBe(409)
    letGo()
    await blocking
    const first = await send('Later', key)
    const again = await send('Later', key)
    expect(again.text).toBe(first.text)
    expectReplayed(again)
    expect(bench.fake.requests.length).toBe(calls + 2)
  })
})

it('a warm run with an idempotency key awaits one statement before its provider call', async () => {
  const { database, deps } = bench.server
  const statementsBeforeCall = async (start: (claim: Claim) => Promise<StartedRun>) => {
    let atCall = 0
    const before = database.statementCount()
    bench.fake.enqueue(() => {
      atCall = database.statementCount() - before
      return { text: 'x' }
    })
    const run = await start(claimOf('/run'))
    await run.result()
    return { atCall, conversationUuid: run.conversationUuid }
  }
  const start = (claim: Claim) => startRun(deps, { ...promptedRun(), mode: 'json', claim })
  await statementsBeforeCall(start)
  const { atCall, conversationUuid } = await statementsBeforeCall(start)
  expect(atCall).toBe(1)
  const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'x' }] }]
  const chat = { caller, conversationUuid, messages, mode: 'json' as const }
  expect((await statementsBeforeCall((claim) => continueConversation(deps, { ...chat, claim }))).atCall).toBe(1)
})

it('promise 15: 100 concurrent duplicates make one provider call, in each response form', async () => {
  for (const form of [{}, { stream: true }, { background: true }]) {
    const key = randomUUID()
    const calls = bench.fake.requests.length
    const answers = await Promise.all(Array.from({ length: 100 }, () => bench.run('hello', form, keyed(key))))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
    if ('background' in form) await bench.attach(String(answers[0]?.body['uuid']))
    expect(bench.fake.requests.length).toBe(calls + 1)
  }
})

describe('two processes on one database', () => {
  /** Simulates two processes. Each has its own in-memory state. */
  async function processes(): Promise<[Deps, Deps]> {
    const { database, deps } = bench.server
    // On the embedded database, all writers share one write batch.
    const isShared = database.kind === 'postgres'
    const writeBatch = isShared ? createWriteBatch(database.session) : database.writeBatch
    const other: Deps = {
      ...deps,
      runs: {
        ...deps.runs,
        store: postgresRunStore({ ...database, writeBatch }),
        eventLog: createRunEventLog(1_000_000),
        active: createActiveRuns(1_000_000),
        settings: { ...deps.runs.settings, instanceId: randomUUID() },
      },
      idempotency: { ...deps.idempotency, claimsInWork: new Map() },
    }
    for (const { runs } of [deps, other]) await runs.leases.renew(runs.settings.instanceId, 60_000)
    return [deps, other]
  }

  const failure = () => ({ status: 409, headers: {}, body: {} })

  it('promise 15: start one run; the other process waits for it and reads its events', async () => {
    const input = { ...promptedRun(), mode: 'stream' as const }
    const claim = claimOf('/run')
    const calls = bench.fake.requests.length
    const here = new AbortController().signal
    const once = async (deps: Deps) => {
      const outcome = await startOnce(deps, { claim, start: () => startRun(deps, { ...input, claim }), failure })
      if ('started' in outcome) return { isFirst: true, result: await outcome.started.result() }
      if (!('run' in outcome)) throw new Error('a run was expected')
      const joined = await joinRun(deps, { caller, ...outcome.run, mode: 'json' }, here)
      return { isFirst: false, result: await joined.result(here) }
    }
    const both = await processes()
    const ends = await Promise.all(Array.from({ length: 40 }, (_, place) => once(both[place % 2 === 0 ? 0 : 1])))
    expect(ends.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    for (const { result } of ends) expect(result).toEqual(ends[0]?.result)
    expect(bench.fake.requests.length).toBe(calls + 1)
  })
})
