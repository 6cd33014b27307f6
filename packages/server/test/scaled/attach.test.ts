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
import { count, report, seed, timeFor } from '../support/counts.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { openReplicas, type Replica, type Replicas } from '../support/replicas.ts'

const cases = count(200, 5_000)
/** Cases that play at once, so that runs which must be queued share the runs in front of them. */
const batch = 10
const serverCount = 3
/** Gives each case its own answer of the provider. */
const parameters = 'parameters: { tag: { type: text } }\n'

let replicas: Replicas
beforeAll(async () => {
  replicas = await openReplicas(
    {
      hello: prompt('<user>{{ tag }}</user>', parameters),
      two: prompt('<step><user>{{ tag }}</user></step><step><user>B</user></step>', parameters),
      blocker: prompt('<user>First</user>'),
    },
    // A single worker each, so runs behind three paused runs wait in the queue.
    { count: serverCount, environment: { STET_WORKERS: '1', STET_MAX_STREAMS_PER_KEY: '100000' } },
  )
  replicas.fake.setDefault(({ body }) => {
    const messages = JSON.stringify(body['messages'])
    for (const [tag, { answer, ask }] of expected) {
      if (!messages.includes(tag)) continue
      // The second step of a run gets the default answer.
      expected.delete(tag)
      ask()
      return answer
    }
    return { text: 'Hello.' }
  })
})
afterAll(() => replicas.close())

/** The provider's answers to runs that have not called it yet. */
const expected = new Map<string, { answer: FakeReply; ask: () => void }>()

/** Resolves `asked` when the run with this tag has called the provider. */
function expectCall(answer: FakeReply): { tag: string; asked: Promise<void> } {
  tags += 1
  const tag = `case ${tags}.`
  const { opened, open } = gate()
  expected.set(tag, { answer, ask: open })
  return { tag, asked: opened }
}
let tags = 0

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

/** Occupies the workers of all servers until the returned function is called. */
async function blockQueue(): Promise<() => void> {
  const { fake } = replicas
  const calls = fake.requests.length
  const start = gate()
  fake.enqueue(...Array.from({ length: serverCount }, () => ({ text: 'x', gate: start.opened })))
  for (let place = 0; place < serverCount; place += 1) await replicas.server(place).background('blocker')
  await fake.waitForRequest(calls + serverCount)
  return start.open
}

interface Started {
  uuid: string
  stream?: Response
}

async function startQueued(next: () => Replica, path: string, tag: string): Promise<Started> {
  const uuid = await next().background(path, { parameters: { tag } })
  expect((await next().conversation(uuid))['status']).toBe('queued')
  return { uuid }
}

async function startStreamed(server: Replica, path: string, tag: string, form: MessageForm): Promise<Started> {
  const headers: Record<string, string> = form === 'declared' ? { 'x-latitude-sdk-version': '5.2.0' } : {}
  const body = { path, stream: true, parameters: { tag } }
  const stream = await server.post(`${replicas.project.live}/documents/run`, body, headers)
  return { uuid: stream.headers.get('x-conversation-uuid') ?? '', stream }
}

interface Played {
  uuid: string
  readings: { reader: Reader; text: Promise<string> }[]
}

/** Starts the run. The returned function plays the rest, once the queue is free. */
async function play({ plan: { path, caller, words, gateAfter, readers }, servers }: Route) {
  let turn = 0
  const next = () => {
    turn += 1
    return replicas.server(servers[turn % servers.length] ?? 0)
  }
  const nextPost = () => next().post
  const goOn = gate()
  const deltas = Array.from({ length: words }, (_, word) => `wörd${word} `)
  const { tag, asked } = expectCall({ deltas, gate: goOn.opened, gateAfter: Math.min(gateAfter, words) })
  const { uuid, stream } = await (caller ? startStreamed(next(), path, tag, caller.form) : startQueued(next, path, tag))
  const readings: Played['readings'] = []
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
  return async (): Promise<Played> => {
    await asked
    await come('running')
    goOn.open()
    expect((await next().attach(uuid)).status).toBe(200)
    await come('ended')
    return { uuid, readings }
  }
}

async function expectWhole({ uuid, readings }: Played): Promise<number> {
  const whole = { whole: await storedText(uuid, 'whole'), declared: await storedText(uuid, 'declared') }
  const ids = idsIn(whole.whole)
  expect(ids).toEqual(ids.map((_, place) => place + 1))
  for (const { reader: by, text } of readings) {
    const expectedText = framesAfter(whole[by.form], by.after)
    const got = await text
    // Compares long texts directly first, so that expect formats them only if they differ.
    if (got !== expectedText) expect(got).toBe(expectedText)
  }
  return readings.length
}

it(
  'promise 6: readers that attach to any server, in any state, with any cuts, get every event once, with the same bytes',
  async () => {
    let played = 0
    let readers = 0
    await fc.assert(
      fc.asyncProperty(fc.array(route, { minLength: batch, maxLength: batch }), async (routes) => {
        const freeQueue = await blockQueue()
        const started = await Promise.all(routes.map(play))
        freeQueue()
        const ended = await Promise.all(started.map((playRest) => playRest()))
        for (const each of ended) readers += await expectWhole(each)
        played += routes.length
        if (played % 250 === 0) report('promise 6', { cases: played, readers })
      }),
      { numRuns: cases / batch, seed },
    )
    report('promise 6', { cases: played, readers })
  },
  timeFor(cases, 4_000),
)
