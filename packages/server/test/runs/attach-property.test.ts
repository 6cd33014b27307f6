import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import type { MessageForm } from '../../src/features/runs/ports.ts'
import { eventCodec } from '../../src/wire/event-codec.ts'
import { unpackEventLog } from '../../src/wire/event-log-format.ts'
import { withoutPings } from '../http/api-call.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

const cases = count(200, 5_000)

let bench: RunBench
beforeAll(async () => {
  bench = await runBench(
    {
      hello: prompt('<user>Hi</user>'),
      two: prompt('<step><user>A</user></step><step><user>B</user></step>'),
      blocker: prompt('<user>First</user>'),
    },
    // A single worker, so runs behind a paused run wait in the queue.
    { STET_WORKERS: '1', STET_MAX_STREAMS_PER_KEY: '100000' },
  )
})
afterAll(() => bench.close())

const states = ['queued', 'running', 'ended'] as const

interface Reader {
  state: (typeof states)[number]
  /** The last event id that the reader sends. 0 sends none. */
  after: number
  /** The number of characters after which each connection breaks, in order. The last connection stays open. */
  cuts: number[]
  form: MessageForm
}

const reader: fc.Arbitrary<Reader> = fc.record({
  state: fc.constantFrom(...states),
  after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) }),
  cuts: fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 4 }),
  form: fc.constantFrom('whole' as const, 'declared' as const),
})

interface Plan {
  path: string
  /** The client that starts the run. Its connection may also break. Undefined for a background run. */
  caller: Pick<Reader, 'cuts' | 'form'> | undefined
  words: number
  gateAfter: number
  readers: Reader[]
}

const plan: fc.Arbitrary<Plan> = fc.record({
  path: fc.constantFrom('hello', 'two'),
  caller: fc.option(reader, { nil: undefined }),
  words: fc.integer({ min: 1, max: 30 }),
  gateAfter: fc.integer({ min: 1, max: 10 }),
  readers: fc.oneof(
    { weight: 24, arbitrary: fc.array(reader, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(reader, { minLength: 100, maxLength: 100 }) },
  ),
})

const frameEnd = '\n\n'
const idsIn = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))

/** Resolves when attached, before the stream is read. */
async function attach(uuid: string, { after, form }: Pick<Reader, 'after' | 'form'>): Promise<Response> {
  const headers: Record<string, string> = {
    ...(after > 0 && { 'last-event-id': String(after) }),
    ...(form === 'declared' && { 'x-latitude-sdk-version': '5.2.0' }),
  }
  const response = await bench.post(`/conversations/${uuid}/attach`, { stream: true }, headers)
  expect(response.status).toBe(200)
  return response
}

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

/** Collects everything that one reader gets over all its connections. Each continues from the last seen id. */
async function readAll(uuid: string, first: Response, { after, cuts, form }: Reader): Promise<string> {
  let text = ''
  let response = first
  for (const cut of [...cuts, undefined]) {
    text += await readUntil(response, cut)
    if (cut !== undefined) response = await attach(uuid, { after: idsIn(text).at(-1) ?? after, form })
  }
  return text
}

async function storedText(uuid: string, form: MessageForm): Promise<string> {
  const { store: runs } = bench.server.deps.runs
  const runUuid = (await runs.findConversation(1, uuid))?.latestRun?.uuid ?? ''
  const file = await runs.findEventLog(1, runUuid)
  const log = file && (await unpackEventLog(file))
  if (!log) throw new Error('The log is not stored')
  const frames = framesOf(eventCodec, storedReader(eventCodec, log, 0), form)
  const parts: Buffer[] = []
  while (!frames.isAtEnd()) parts.push(Buffer.from(frames.take()))
  return Buffer.concat(parts).toString('utf8')
}

function gate(): { opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

interface Started {
  uuid: string
  stream?: Response
  start(): Promise<unknown>
}

/** Queues the run behind another one, which occupies the only worker. */
async function startQueued(path: string, answer: FakeReply): Promise<Started> {
  const calls = bench.fake.requests.length
  const start = gate()
  bench.fake.enqueue({ text: 'x', gate: start.opened }, answer)
  await bench.background('blocker')
  await bench.fake.waitForRequest(calls + 1)
  const uuid = await bench.background(path)
  expect((await bench.conversation(uuid))['status']).toBe('queued')
  return {
    uuid,
    async start() {
      start.open()
      await bench.fake.waitForRequest(calls + 2)
    },
  }
}

async function startStreamed(path: string, answer: FakeReply, form: MessageForm): Promise<Started> {
  const calls = bench.fake.requests.length
  bench.fake.enqueue(answer)
  const headers: Record<string, string> = form === 'declared' ? { 'x-latitude-sdk-version': '5.2.0' } : {}
  const stream = await bench.post(`${bench.live}/documents/run`, { path, stream: true }, headers)
  return {
    uuid: stream.headers.get('x-conversation-uuid') ?? '',
    stream,
    start: () => bench.fake.waitForRequest(calls + 1),
  }
}

/** Plays one run and pauses it in each state until its readers have attached. */
async function play({ path, caller, words, gateAfter, readers }: Plan) {
  const goOn = gate()
  const deltas = Array.from({ length: words }, (_, word) => `wörd${word} `)
  const answer = { deltas, gate: goOn.opened, gateAfter: Math.min(gateAfter, words) }
  const { uuid, stream, start } = await (caller ? startStreamed(path, answer, caller.form) : startQueued(path, answer))
  const readings: { reader: Reader; text: Promise<string> }[] = []
  if (caller && stream) {
    const own = { ...caller, state: 'running' as const, after: 0 }
    readings.push({ reader: own, text: readAll(uuid, stream, own) })
  }
  const come = async (state: Reader['state']) => {
    const coming = readers.filter((each) => each.state === state)
    const attached = await Promise.all(coming.map(async (each) => ({ each, first: await attach(uuid, each) })))
    for (const { each, first } of attached) readings.push({ reader: each, text: readAll(uuid, first, each) })
  }
  await come('queued')
  await start()
  await come('running')
  goOn.open()
  expect((await bench.attach(uuid)).status).toBe(200)
  await come('ended')
  return { uuid, readings }
}

it(
  `promise 6: readers that attach anywhere, in any state, with any cuts, get every event once, in order, with the same bytes`,
  async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (each) => {
        const { uuid, readings } = await play(each)
        const whole = { whole: await storedText(uuid, 'whole'), declared: await storedText(uuid, 'declared') }
        const ids = idsIn(whole.whole)
        expect(ids).toEqual(ids.map((_, place) => place + 1))
        for (const { reader: by, text } of readings) {
          const all = whole[by.form]
          const frames = all.split(/(?<=\n\n)/)
          const expected = frames.filter((frame) => (idsIn(frame)[0] ?? 0) > by.after).join('')
          const got = await text
          // Compares long texts directly first, so that expect formats them only if they differ.
          if (got !== expected) expect(got).toBe(expected)
        }
      }),
      { numRuns: cases, seed },
    )
  },
  timeFor(cases, 2_000),
)
