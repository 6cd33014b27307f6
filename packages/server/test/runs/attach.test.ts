import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import { endOfRun } from '../../src/features/runs/run-end.ts'
import { eventCodec, unpackEventLog } from '../../src/wire/event-log-format.ts'
import { addFrame } from '../../src/wire/run-frames.ts'
import { prompt, type RunBench, record, sharedBench } from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await sharedBench({
    hello: prompt('<user>Hi</user>'),
    two: prompt('<step><user>A</user></step><step><user>B</user></step>'),
    broken: prompt('<user>Hi</user>', 'maxRetries: 0\n'),
  })
  bench.fake.setDefault({ text: 'Hello.' })
})
afterAll(() => bench.close())

it("returns a JSON result's text under both keys, and an error's message twice", async () => {
  bench.fake.enqueue({ text: 'Hello Ada' })
  const { body } = await bench.run('hello')
  const uuid = String(body['uuid'])
  const attached = await bench.attach(uuid)
  expect(attached.headers.get('x-conversation-uuid')).toBe(uuid)
  const both = (text: string) => [{ type: 'text', text, content: text }]
  expect(attached.body).toMatchObject({
    conversation: [{ content: both('Hi') }, { content: both('Hello Ada') }],
    response: { text: 'Hello Ada', input: [{ content: both('Hi') }], output: [{ content: both('Hello Ada') }] },
  })
  expect({ ...attached.body, conversation: body['conversation'], response: body['response'] }).toEqual(body)
  const unknown = await bench.attach(randomUUID())
  expect(unknown).toMatchObject({ status: 404, body: { error: { message: expect.any(String) } } })
})

it("promise 8: returns only the latest run's events after a chat, and event ids continue", async () => {
  const { last, events } = await bench.stream('hello')
  const uuid = String(last['uuid'])
  const chat = await bench.streamChat(uuid, { messages: [{ role: 'user', content: 'More' }] })
  expect((await bench.streamAttach(uuid)).text).toBe(chat.text)
  expect((await bench.streamAttach(uuid, { 'last-event-id': 'x1' })).text).toBe(chat.text)
  expect((await bench.streamAttach(uuid, { 'last-event-id': '2' })).text).toBe(chat.text)
  expect(chat.events[0]).toMatchObject({ id: events.length + 1, data: { type: 'chain-started', uuid } })
  expect(chat.last['messages']).toHaveLength(4)
  const atEnd = await bench.post(
    `/conversations/${uuid}/attach`,
    { stream: true },
    { 'last-event-id': String(chat.events.at(-1)?.id) },
  )
  expect([atEnd.status, await atEnd.text()]).toEqual([200, ''])
  // Continues from the database as well as from memory.
  bench.server.deps.runs.active.forget(uuid)
  const third = await bench.streamChat(uuid, { messages: [{ role: 'user', content: 'And more' }] })
  expect(third.events[0]?.id).toBe(events.length + chat.events.length + 1)
})

it('returns the events and the result of an earlier run, and no run of another conversation', async () => {
  bench.fake.enqueue({ text: 'First.' })
  const first = await bench.stream('hello')
  const uuid = String(first.last['uuid'])
  const chat = await bench.streamChat(uuid, { messages: [{ role: 'user', content: 'More' }] })
  const runsOf = async (conversation: string) =>
    (await bench.api('GET', `/conversations/${conversation}/runs`)).body as unknown as { uuid: string }[]
  const [earlier, latest] = await runsOf(uuid)
  const attach = (body: object, headers = {}) => bench.post(`/conversations/${uuid}/attach`, body, headers)
  const streamed = async (run?: { uuid: string }, headers = {}) =>
    (await attach({ stream: true, runUuid: run?.uuid }, headers)).text()
  expect(await streamed(earlier)).toBe(first.text)
  expect(await streamed(latest)).toBe(chat.text)
  expect(first.text.endsWith(await streamed(earlier, { 'last-event-id': '2' }))).toBe(true)
  const result = await (await attach({ runUuid: earlier?.uuid.toUpperCase() })).json()
  expect(result).toMatchObject({ uuid, conversation: { length: 2 }, response: { text: 'First.' } })

  await bench.server.deps.runs.store.dropEventLogs(new Date(0), new Date(Date.now() + 60_000))
  expect((await streamed(earlier)).match(/"type":"chain-completed"/g)).toHaveLength(1)
  const [other] = await runsOf(String((await bench.run('hello')).body['uuid']))
  for (const runUuid of [other?.uuid, randomUUID()]) {
    const answer = await attach({ runUuid })
    expect([answer.status, await answer.json()]).toMatchObject([404, { reason: 'unknown-run' }])
  }
})

it('replays a long run from its stored event log in few parts, starting at any event', async () => {
  const { store: runs, eventLog } = bench.server.deps.runs
  const count = 4_000
  bench.fake.enqueue({ deltas: Array.from({ length: count }, (_, place) => `大 wörd ${place} \u2028 `) })
  const { text, last } = await bench.stream('hello')
  const uuid = String(last['uuid'])
  const runUuid = (await runs.findConversation(1, uuid))?.latestRun?.uuid ?? ''
  expect(eventLog.follow(runUuid, 0)).toBeUndefined()
  for (const seen of [0, 1, 5, 6, count / 2, count, count + 5]) {
    const ends = [...text.matchAll(/\nid: \d+\n\n/g)].map(({ index, 0: mark }) => index + mark.length)
    const headers: Record<string, string> = seen === 0 ? {} : { 'last-event-id': String(seen) }
    const replay = await bench.post(`/conversations/${uuid}/attach`, { stream: true }, headers)
    expect([seen, (await replay.text()) === text.slice(seen === 0 ? 0 : ends[seen - 1])]).toEqual([seen, true])
  }
  const file = await runs.findEventLog(1, runUuid)
  const log = await unpackEventLog(file ?? Buffer.of())
  if (!log) throw new Error('The log is not stored')
  const shown = framesOf(storedReader(eventCodec, log, 0), addFrame)
  let parts = 0
  for (; !shown.isAtEnd(); parts += 1) shown.take()
  // Start, deltas and end. The deltas take more bytes than one part.
  expect(parts).toBeLessThanOrEqual(12)
})

it("still returns a run's answer and end, with their event ids, without its event log", async () => {
  const { store: runs } = bench.server.deps.runs
  bench.fake.enqueue({ text: 'Kept' }, { text: 'Kept too' }, { status: 401, body: { error: { message: 'no' } } })
  for (const path of ['two', 'broken']) {
    const { events, last } = await bench.stream(path)
    const uuid = String(last['uuid'])
    const conversation = await runs.findConversation(1, uuid)
    const { latestRun } = conversation ?? {}
    if (!conversation || !latestRun?.result) throw new Error('The run has ended')
    const log = endOfRun(eventCodec, conversation, latestRun, latestRun.result)
    const shown = framesOf(storedReader(eventCodec, log, 0), addFrame)
    const end = await record(new Response(shown.take()), { isWhole: false })
    const expected = events.filter(({ data }, place) => {
      const isLastAnswer =
        data['type'] === 'provider-completed' &&
        !events.slice(place + 1).some((later) => later.data['type'] === 'provider-completed')
      return isLastAnswer || place === events.length - 1
    })
    const timeless = (list: typeof events) =>
      list.map(({ data, ...rest }) => ({ ...rest, data: { ...data, timestamp: 0 } }))
    expect(timeless(end.events)).toEqual(timeless(expected))
  }
})

it('drops only event logs past their retention time', async () => {
  const { store: runs } = bench.server.deps.runs
  const { last } = await bench.stream('hello')
  const run = (await runs.findConversation(1, String(last['uuid'])))?.latestRun
  const endedAt = run?.endedAt ?? new Date(0)
  const later = new Date(endedAt.getTime() + 1)
  await runs.dropEventLogs(new Date(0), endedAt)
  expect(await runs.findEventLog(1, run?.uuid ?? '')).not.toBeNull()
  expect(await runs.findEventLog(2, run?.uuid ?? '')).toBeNull()
  expect(await runs.dropEventLogs(endedAt, later)).toBe(1)
  expect(await runs.dropEventLogs(endedAt, later)).toBe(0)
  expect(await runs.findEventLog(1, run?.uuid ?? '')).toBeNull()
})

it('returns an answer and an end for an external log', async () => {
  const { body } = await bench.run('hello')
  const uuid = randomUUID()
  await bench.server.database.session.query(
    `INSERT INTO conversation (uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, origin,
       config, messages, status)
     SELECT $1::uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, 'log', config, messages,
       'completed' FROM conversation WHERE uuid = $2::uuid`,
    [uuid, body['uuid']],
  )
  expect((await bench.streamAttach(uuid)).types).toEqual(['provider-completed', 'chain-completed'])
  expect(await bench.attach(uuid)).toMatchObject({
    status: 200,
    body: { uuid, response: { text: 'Hello.', usage: { totalTokens: 0 } }, cost: 0, tokenUsage: { totalTokens: 0 } },
  })
})
