/** Promise 6 with three servers: each connection of each reader may be to another server. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import type { MessageForm } from '../../src/features/runs/ports.ts'
import { eventCodec } from '../../src/wire/event-codec.ts'
import { unpackEventLog } from '../../src/wire/event-log-format.ts'
import { attach, framesAfter, gate, idsIn, type Plan, plan, type Reader, readAll } from '../runs/attached-readers.ts'
import { prompt } from '../runs/run-bench.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

// The 200 cases of every change are divided between one server (test/runs), the logs (test/ports) and these.
const cases = count(60, 5_000)
const serverCount = 3

let replicas: Replicas
beforeAll(async () => {
  replicas = await openReplicas(
    {
      hello: prompt('<user>Hi</user>'),
      two: prompt('<step><user>A</user></step><step><user>B</user></step>'),
      blocker: prompt('<user>First</user>'),
    },
    // A single worker each, so runs behind three paused runs wait in the queue.
    { count: serverCount, environment: { STET_WORKERS: '1', STET_MAX_STREAMS_PER_KEY: '100000' } },
  )
})
afterAll(() => replicas.close())

interface Route {
  plan: Plan
  /** The places of the servers to which connections go, in turn. */
  servers: number[]
}

const route: fc.Arbitrary<Route> = fc.record({
  plan,
  servers: fc.array(fc.nat(serverCount - 1), { minLength: 3, maxLength: 10 }),
})

async function storedText(uuid: string, form: MessageForm): Promise<string> {
  const [row] = await replicas.query<{ event_log: Buffer }>('SELECT event_log FROM run WHERE conversation_uuid = $1', [
    uuid,
  ])
  const log = row && (await unpackEventLog(row.event_log))
  if (!log) throw new Error('The log is not stored')
  const frames = framesOf(eventCodec, storedReader(eventCodec, log, 0), form)
  const parts: Buffer[] = []
  while (!frames.isAtEnd()) parts.push(Buffer.from(frames.take()))
  return Buffer.concat(parts).toString('utf8')
}

interface Started {
  uuid: string
  stream?: Response
  start(): Promise<unknown>
}

async function startQueued(next: () => Replica, path: string, answer: FakeReply): Promise<Started> {
  const { fake } = replicas
  const calls = fake.requests.length
  const start = gate()
  fake.enqueue(...Array.from({ length: serverCount }, () => ({ text: 'x', gate: start.opened })), answer)
  await Promise.all(Array.from({ length: serverCount }, () => next().background('blocker')))
  await fake.waitForRequest(calls + serverCount)
  const uuid = await next().background(path)
  expect((await next().conversation(uuid))['status']).toBe('queued')
  return {
    uuid,
    async start() {
      start.open()
      await fake.waitForRequest(calls + serverCount + 1)
    },
  }
}

async function startStreamed(server: Replica, path: string, answer: FakeReply, form: MessageForm): Promise<Started> {
  const calls = replicas.fake.requests.length
  replicas.fake.enqueue(answer)
  const headers: Record<string, string> = form === 'declared' ? { 'x-latitude-sdk-version': '5.2.0' } : {}
  const stream = await server.post(`${replicas.project.live}/documents/run`, { path, stream: true }, headers)
  return {
    uuid: stream.headers.get('x-conversation-uuid') ?? '',
    stream,
    start: () => replicas.fake.waitForRequest(calls + 1),
  }
}

async function play({ plan: { path, caller, words, gateAfter, readers }, servers }: Route) {
  let turn = 0
  const next = () => {
    turn += 1
    return replicas.server(servers[turn % servers.length] ?? 0)
  }
  const nextPost = () => next().post
  const goOn = gate()
  const deltas = Array.from({ length: words }, (_, word) => `wörd${word} `)
  const answer = { deltas, gate: goOn.opened, gateAfter: Math.min(gateAfter, words) }
  const { uuid, stream, start } = await (caller
    ? startStreamed(next(), path, answer, caller.form)
    : startQueued(next, path, answer))
  const readings: { reader: Reader; text: Promise<string> }[] = []
  if (caller && stream) {
    const own = { ...caller, state: 'running' as const, after: 0 }
    readings.push({ reader: own, text: readAll(nextPost, uuid, stream, own) })
  }
  const come = async (state: Reader['state']) => {
    const coming = readers.filter((each) => each.state === state)
    const attached = await Promise.all(
      coming.map(async (each) => ({ each, first: await attach(nextPost(), uuid, each) })),
    )
    for (const { each, first } of attached) {
      readings.push({ reader: each, text: readAll(nextPost, uuid, first, each) })
    }
  }
  await come('queued')
  await start()
  await come('running')
  goOn.open()
  expect((await next().attach(uuid)).status).toBe(200)
  await come('ended')
  return { uuid, readings }
}

it(
  'promise 6: readers that attach to any server, in any state, with any cuts, get every event once, with the same bytes',
  async () => {
    await fc.assert(
      fc.asyncProperty(route, async (each) => {
        const { uuid, readings } = await play(each)
        const whole = { whole: await storedText(uuid, 'whole'), declared: await storedText(uuid, 'declared') }
        const ids = idsIn(whole.whole)
        expect(ids).toEqual(ids.map((_, place) => place + 1))
        for (const { reader: by, text } of readings) {
          const expected = framesAfter(whole[by.form], by.after)
          const got = await text
          // Compares long texts directly first, so that expect formats them only if they differ.
          if (got !== expected) expect(got).toBe(expected)
        }
      }),
      { numRuns: cases, seed },
    )
  },
  timeFor(cases, 4_000),
)
