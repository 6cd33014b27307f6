import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storedReader } from '../../src/features/runs/events/stored-events.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import type { MessageForm } from '../../src/features/runs/ports.ts'
import { eventCodec } from '../../src/wire/event-codec.ts'
import { unpackEventLog } from '../../src/wire/event-log-format.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply } from '../support/fake-provider.ts'
import { attach, framesAfter, gate, idsIn, type Plan, plan, type Reader, readAll } from './attached-readers.ts'
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
    readings.push({ reader: own, text: readAll(() => bench.post, uuid, stream, own) })
  }
  const come = async (state: Reader['state']) => {
    const coming = readers.filter((each) => each.state === state)
    const attached = await Promise.all(
      coming.map(async (each) => ({ each, first: await attach(bench.post, uuid, each) })),
    )
    for (const { each, first } of attached)
      readings.push({ reader: each, text: readAll(() => bench.post, uuid, first, each) })
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
          const expected = framesAfter(whole[by.form], by.after)
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
