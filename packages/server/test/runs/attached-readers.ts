/** Runs with readers that attach anywhere, in any state, to any server, over connections that break, for property tests. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import { eventCodec, unpackEventLog } from '../../src/wire/event-log-format.ts'
import { clientFrames, type LegacyClient } from '../../src/wire/legacy-clients.ts'
import { withoutPings } from '../http/api-call.ts'
import { report, seed } from '../support/counts.ts'
import type { FakeProvider, FakeReply } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { prompt } from './run-bench.ts'
import type { RunCalls } from './run-calls.ts'

/** Gives each run its own answer of the provider. */
const parameters = 'parameters: { tag: { type: text } }\n'
export const prompts = {
  hello: prompt('<user>{{ tag }}</user>', parameters),
  two: prompt('<step><user>{{ tag }}</user></step><step><user>B</user></step>', parameters),
  blocker: prompt('<user>First</user>'),
}
/** A single worker, so runs behind a paused run wait in the queue. */
export const environment = { STET_WORKERS: '1', STET_MAX_STREAMS_PER_KEY: '100000' }

/** Runs that play at once, so that those which must be queued share the runs in front of them. */
const batch = 10

const states = ['queued', 'running', 'ended'] as const

interface Reader {
  state: (typeof states)[number]
  /** The last event id that the reader sends. 0 sends none. */
  after: number
  /** The number of characters after which each connection breaks, in order. The last connection stays open. */
  cuts: number[]
  isLegacy: boolean
}

const reader: fc.Arbitrary<Reader> = fc.record({
  state: fc.constantFrom(...states),
  after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
  cuts: fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 4 }),
  isLegacy: fc.boolean(),
})

interface Plan {
  path: string
  /** The client that starts the run. Its connection may also break. Undefined for a background run. */
  caller: Pick<Reader, 'cuts' | 'isLegacy'> | undefined
  words: number
  gateAfter: number
  readers: Reader[]
  /** The places of the servers to which connections go, in turn. */
  servers: number[]
}

const plan: fc.Arbitrary<Plan> = fc.record({
  path: fc.constantFrom('hello', 'two'),
  caller: fc.option(reader, { nil: undefined }),
  words: fc.integer({ min: 1, max: 30 }),
  gateAfter: fc.integer({ min: 1, max: 10 }),
  readers: fc.oneof(
    { weight: 12, arbitrary: fc.array(reader, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(reader, { minLength: 100, maxLength: 100 }) },
  ),
  servers: fc.array(fc.nat(), { minLength: 3, maxLength: 10 }),
})

export interface ReadersBench {
  fake: FakeProvider
  /** The URL path of the version whose prompts run. */
  live: string
  servers: readonly RunCalls[]
  /** Returns the stored event log of the conversation's only run. */
  eventLogOf(conversationUuid: string): Promise<Uint8Array | null | undefined>
}

/** Each reader must get every event after its first id once, in order, with the bytes of the stored event log. */
export async function expectSameBytes(bench: ReadersBench, cases: number): Promise<void> {
  const answers = new Map<string, { answer: FakeReply; ask: () => void }>()
  bench.fake.setDefault(({ body }) => {
    const messages = JSON.stringify(body['messages'])
    for (const [tag, { answer, ask }] of answers) {
      if (!messages.includes(tag)) continue
      // The second step of a run gets the default answer.
      answers.delete(tag)
      ask()
      return answer
    }
    return { text: 'Hello.' }
  })
  let tags = 0
  /** Resolves `asked` when the run with this tag has called the provider. */
  const expectCall = (answer: FakeReply) => {
    tags += 1
    const tag = `case ${tags}.`
    const { opened: asked, open: ask } = gate()
    answers.set(tag, { answer, ask })
    return { tag, asked }
  }
  let [played, readers] = [0, 0]
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: batch, maxLength: batch }), async (plans) => {
      const freeQueue = await blockQueue(bench)
      const started = await Promise.all(plans.map((each) => play(bench, each, expectCall)))
      freeQueue()
      for (const each of await Promise.all(started.map((playRest) => playRest()))) {
        await expectWhole(bench, each)
        readers += each.readings.length
      }
      played += plans.length
      if (played % 250 === 0 || played >= cases) report('promise 6', { cases: played, readers })
    }),
    { numRuns: Math.ceil(cases / batch), seed },
  )
}

/** Occupies the workers of all servers until the returned function is called. */
async function blockQueue({ fake, servers }: ReadersBench): Promise<() => void> {
  const calls = fake.requests.length
  const { opened, open } = gate()
  fake.enqueue(...servers.map(() => ({ text: 'x', gate: opened })))
  for (const { background } of servers) await background('blocker')
  await fake.waitForRequest(calls + servers.length)
  return open
}

interface Played {
  uuid: string
  readings: { reader: Reader; text: Promise<string> }[]
}

/** Starts the run. The returned function plays the rest, once the queue is free. */
async function play(
  { live, servers: all }: ReadersBench,
  { path, caller, words, gateAfter, readers, servers }: Plan,
  expectCall: (answer: FakeReply) => { tag: string; asked: Promise<void> },
): Promise<() => Promise<Played>> {
  let turn = 0
  const next = (): RunCalls => {
    turn += 1
    const server = all[(servers[turn % servers.length] ?? 0) % all.length]
    if (!server) throw new Error('There is a server')
    return server
  }
  const goOn = gate()
  const deltas = Array.from({ length: words }, (_, word) => `wörd${word} `)
  const { tag, asked } = expectCall({ deltas, gate: goOn.opened, gateAfter: Math.min(gateAfter, words) })
  const readings: Played['readings'] = []
  let uuid: string
  if (caller) {
    const body = { path, stream: true, parameters: { tag } }
    const stream = await next().post(`${live}/documents/run`, body, headersOf(caller.isLegacy))
    uuid = stream.headers.get('x-conversation-uuid') ?? ''
    const own = { ...caller, state: 'running' as const, after: 0 }
    readings.push({ reader: own, text: readAll(next, uuid, stream, own) })
  } else {
    uuid = await next().background(path, { parameters: { tag } })
    expect((await next().conversation(uuid))['status']).toBe('queued')
  }
  const come = async (state: Reader['state']) => {
    const coming = readers.filter((each) => each.state === state)
    const attached = await Promise.all(coming.map((each) => attach(next(), uuid, each)))
    for (const [place, each] of coming.entries()) {
      const first = attached[place]
      if (first) readings.push({ reader: each, text: readAll(next, uuid, first, each) })
    }
  }
  await come('queued')
  return async () => {
    await asked
    await come('running')
    goOn.open()
    expect((await next().attach(uuid)).status).toBe(200)
    await come('ended')
    return { uuid, readings }
  }
}

const headersOf = (isLegacy: boolean): Record<string, string> => (isLegacy ? { 'x-latitude-sdk-version': '5.2.0' } : {})

/** Resolves when attached, before the stream is read. */
async function attach({ post }: RunCalls, uuid: string, { after, isLegacy }: Reader): Promise<Response> {
  const headers = { ...headersOf(isLegacy), ...(after > 0 && { 'last-event-id': String(after) }) }
  const response = await post(`/conversations/${uuid}/attach`, { stream: true }, headers)
  expect(response.status).toBe(200)
  return response
}

const frameEnd = '\n\n'
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

/** Reads to the end or to the cut, and drops an incomplete last frame like any client. */
async function readUntil(response: Response, cut: number | undefined): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    // Leaving the loop closes the connection.
    if (cut !== undefined && text.length > cut) break
  }
  const end = text.lastIndexOf(frameEnd)
  return end < 0 ? '' : withoutPings(text.slice(0, end + frameEnd.length))
}

/** Collects what one reader gets over all its connections. Each continues from the last seen id, on the next server. */
async function readAll(next: () => RunCalls, uuid: string, first: Response, reader: Reader): Promise<string> {
  let text = ''
  let response = first
  for (const cut of [...reader.cuts, undefined]) {
    text += await readUntil(response, cut)
    if (cut !== undefined)
      response = await attach(next(), uuid, { ...reader, after: idsIn(text).at(-1) ?? reader.after })
  }
  return text
}

async function expectWhole({ eventLogOf }: ReadersBench, { uuid, readings }: Played): Promise<void> {
  const file = await eventLogOf(uuid)
  const log = file && (await unpackEventLog(file))
  if (!log) throw new Error('The log is not stored')
  const textFor = (client: LegacyClient | undefined) => {
    const frames = framesOf(storedReader(eventCodec, log, 0), clientFrames(client))
    const parts: Buffer[] = []
    while (!frames.isAtEnd()) parts.push(Buffer.from(frames.take()))
    return Buffer.concat(parts).toString('utf8')
  }
  const [current, legacy] = [textFor(undefined), textFor({ readsBackgroundStreams: false })]
  const ids = idsIn(current)
  expect(ids).toEqual(ids.map((_, place) => place + 1))
  for (const { reader: by, text } of readings) {
    const frames = (by.isLegacy ? legacy : current)
      .split(/(?<=\n\n)/)
      .filter((frame) => (idsIn(frame)[0] ?? 0) > by.after)
    const expected = frames.join('')
    const got = await text
    // Compares long texts directly first, so that expect formats them only if they differ.
    if (got !== expected) expect(got).toBe(expected)
  }
}
