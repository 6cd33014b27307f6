import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, record } from '../runs/run-bench.ts'
import { count, timeFor } from '../support/counts.ts'
import type { FakeProvider } from '../support/fake-provider.ts'
import { gate } from '../support/gate.ts'
import { hasProcessFigures, peakBytesDuring, probe, residentBytes } from '../support/process-figures.ts'
import { type RunServer, runServer } from './run-server.ts'

const sockets = count(8, 200)
const megabyte = 1_000_000
// Each terminal event repeats the conversation, so 3.6 MB of text become a stream of more than 20 MB.
const pieces = Array.from({ length: 60 }, () => 'x'.repeat(60_000))
const streamBytes = 20 * megabyte
/** A machine pause causes a gap in one round, but not in all. */
const rounds = 3
const ticks = 300
const tickMs = 10

let bench: RunServer
beforeAll(async () => {
  bench = await runServer({ big: prompt('<user>Big</user>', 'maxRetries: 0\n'), tick: prompt('<user>Tick</user>') })
})
afterAll(() => bench.close())

const answerBytes = 12 * megabyte
// Memory includes the answer, its messages, events and result, their stored forms, and garbage.
const allowedMultiple = 20

async function readAnswer(): Promise<void> {
  bench.fake.enqueue({ text: '"quoted" words '.repeat(Math.ceil(answerBytes / 15)) })
  const answer = await bench.post(`${bench.live}/documents/run`, { path: 'big' })
  expect(answer.status).toBe(200)
  let size = 0
  for await (const piece of answer.body ?? []) size += piece.length
  expect(size).toBeGreaterThan(answerBytes)
  await bench.untilActive(0)
}

it.skipIf(!hasProcessFigures)(
  'the memory for receiving, storing and forwarding a large answer is a bounded multiple of its size',
  async () => {
    const { child } = bench.server
    // The embedded database's memory grows once, for its largest statement, and never shrinks.
    await readAnswer()
    const peaks: number[] = []
    // The garbage that a peak includes varies, so a second answer may prove the first one an exception.
    do {
      await probe(child)
      const before = await residentBytes(child)
      peaks.push(((await peakBytesDuring(child, readAnswer)) - before) / answerBytes)
    } while ((peaks.at(-1) ?? 0) >= allowedMultiple && peaks.length < 2)
    console.info(`a large answer: ${peaks.map((peak) => peak.toFixed(1)).join(', ')} times its size`)
    expect(peaks.at(-1)).toBeLessThan(allowedMultiple)
  },
  120_000,
)

it.skipIf(!hasProcessFigures)(
  'promise 9: slow clients cost less than 50 MB each and do not delay other clients',
  async () => {
    const { fake, server } = bench
    let stalled: Socket[] = []
    const measureBoth = async () => {
      const control = await measure(bench, async (open) => {
        const reading = Array.from({ length: sockets }, () => readWhole(bench))
        await open(sockets)
        for (const size of await Promise.all(reading)) expect(size).toBeGreaterThan(streamBytes)
      })
      for (const socket of stalled) socket.destroy()
      stalled = []
      const slow = await measure(bench, async (open) => {
        for (let index = 0; index < sockets; index += 1)
          stalled.push(await stall(bench, `${bench.live}/documents/run`, { path: 'big' }))
        await open(sockets)
      })
      return { control, slow, allowedGapMs: 100 + 3 * control.longestGapMs }
    }
    let measured = await measureBoth()
    for (let round = 1; round < rounds && measured.slow.longestGapMs >= measured.allowedGapMs; round += 1)
      measured = await measureBoth()
    const { control, slow, allowedGapMs } = measured
    const perSocket = (slow.peakBytes - control.peakBytes) / sockets / megabyte

    // Many readers share one run's data, so each reader can only add a copy.
    const held = gated(fake)
    const uuid = await bench.startBackground('big')
    for (let index = 0; index < sockets; index += 1)
      stalled.push(await stall(bench, `/conversations/${uuid}/attach`, {}))
    const before = await residentBytes(server.child)
    await held.open(1)
    await bench.untilActive(0)
    const onOneRun = ((await residentBytes(server.child)) - before) / sockets / megabyte

    // Repeats the check after the run. Its stored event log is unpacked once for all readers.
    const beforeReplays = await residentBytes(server.child)
    const replays: Socket[] = []
    for (let index = 0; index < sockets; index += 1)
      replays.push(await stall(bench, `/conversations/${uuid}/attach`, {}))
    for (const socket of replays.slice(0, 2)) expect(await readOn(socket)).toBeGreaterThan(streamBytes)
    const onEndedRun = ((await residentBytes(server.child)) - beforeReplays) / sockets / megabyte
    stalled.push(...replays.slice(2))

    const figures = { perSocket, onOneRun, onEndedRun, control, slow }
    console.info(`slow clients: ${JSON.stringify(figures)}`)
    expect(perSocket).toBeLessThan(50)
    expect(onOneRun).toBeLessThan(10)
    expect(onEndedRun).toBeLessThan(20)
    expect(slow.longestGapMs, JSON.stringify(figures)).toBeLessThan(allowedGapMs)
    for (const socket of stalled) expect(socket.destroyed).toBe(false)
    for (const socket of [stalled[0], stalled.at(-1)])
      if (socket) expect(await readOn(socket)).toBeGreaterThan(streamBytes)
    for (const socket of stalled) socket.destroy()
  },
  timeFor(rounds * sockets, 10_000),
)

interface Measured {
  peakBytes: number
  /** The longest gap between two reads of a continuously reading client. */
  longestGapMs: number
}

/** Delays the provider's answers until `runs` calls wait, so that only answers cause load. */
function gated(fake: FakeProvider): { open(runs: number): Promise<void> } {
  const { opened, open } = gate()
  let waiting = 0
  fake.setDefault(({ body }) => {
    if (JSON.stringify(body).includes('Tick')) return { deltas: Array(ticks).fill('tick '), delayMs: tickMs }
    waiting += 1
    return { deltas: pieces, gate: opened, gateAfter: 0 }
  })
  return {
    async open(runs) {
      await expect.poll(() => waiting, { timeout: 60_000 }).toBe(runs)
      open()
    },
  }
}

/** Runs the work next to a normal reader, whose stream must be complete. */
async function measure(
  bench: RunServer,
  work: (open: (runs: number) => Promise<void>) => Promise<void>,
): Promise<Measured> {
  const { open } = gated(bench.fake)
  let longestGapMs = 0
  const peakBytes = await peakBytesDuring(bench.server.child, async () => {
    const reading = readTicks(bench)
    await work(open)
    longestGapMs = await reading
    await bench.untilActive(0)
  })
  return { peakBytes, longestGapMs }
}

async function readTicks(bench: RunServer): Promise<number> {
  const response = await bench.post(`${bench.live}/documents/run`, { path: 'tick', stream: true })
  const [timed, kept] = response.body?.tee() ?? []
  let longest = 0
  let last = performance.now()
  const time = async () => {
    for await (const _piece of timed ?? []) {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    }
  }
  const [recording] = await Promise.all([record(new Response(kept ?? null)), time()])
  expect(recording.types.filter((type) => type === '·text-delta').length).toBeGreaterThan(ticks / 2)
  expect(recording.types.at(-1)).toBe('chain-completed')
  return longest
}

async function readWhole(bench: RunServer): Promise<number> {
  const response = await bench.post(`${bench.live}/documents/run`, { path: 'big', stream: true })
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
  }
  return size
}

async function stall(bench: RunServer, path: string, body: object): Promise<Socket> {
  const { hostname, port } = new URL(bench.server.url)
  const text = JSON.stringify({ ...body, stream: true })
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /api/v3${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${bench.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('readable', resolve)
  })
  return socket
}

async function readOn(socket: Socket): Promise<number> {
  let size = 0
  let end = ''
  for await (const piece of socket) {
    size += (piece as Buffer).length
    end = (end + (piece as Buffer).toString('latin1')).slice(-200)
  }
  expect(end).toContain('\nid: ')
  return size
}
