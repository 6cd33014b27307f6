import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import { type HeardTime, startHeardTime } from '../support/heard-time.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

const graces = [0, 200, 30_000]
const casesPerGrace = Math.ceil(count(30, 500) / graces.length)
const atOnce = 10
const modes = ['json', 'stream', 'attach', 'background'] as const

interface Leaver {
  name: string
  mode: (typeof modes)[number]
  /** The moment of the disconnect. With `bytes`, a JSON client disconnects after its provider call. */
  point: { ms: number } | { bytes: number }
  isReset: boolean
}

/** A time by the clock and in responsive time, because client, server and provider share this process. */
interface Moment {
  at: number
  heardMs: number
}

interface Call {
  called: Moment
  left: Promise<Moment>
}

interface Scene {
  graceMs: number
  heard: HeardTime
  calls: Map<string, Call>
}

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({ ask: prompt('<user>{{ name }}</user>', 'maxRetries: 0\n') })
})
afterAll(() => bench.close())

it.each(graces)(
  'promise 10: clients that disconnect at any point, %i ms of grace',
  async (graceMs) => {
    const random = seededRandom(seed + graceMs)
    bench.server.deps.runs.settings.graceMs = graceMs
    const heard = startHeardTime()
    onTestFinished(heard.stop)
    const calls = new Map<string, Call>()
    const scene = { graceMs, heard, calls }
    bench.fake.setDefault((request) => replyTo(request, scene))
    for (let first = 0; first < casesPerGrace; first += atOnce) {
      const leavers = Array.from({ length: Math.min(atOnce, casesPerGrace - first) }, (_, place) =>
        leaver(graceMs, first + place, random),
      )
      const left = await Promise.all(leavers.map((each) => leave(scene, each)))
      await untilIdle()
      for (const [place, each] of leavers.entries()) await expectEnd(scene, each, left[place])
    }
  },
  timeFor(casesPerGrace, 2_000),
)

async function expectEnd({ graceMs, calls }: Scene, each: Leaver, left: Moment | undefined): Promise<void> {
  const told = `seed ${seed}, ${JSON.stringify(each)}`
  const call = calls.get(each.name)
  const find = async () => {
    const { items } = (await bench.api('GET', `/conversations?customIdentifier=${each.name}`)).body
    const [found] = items as { uuid: string; status: string }[]
    return found ?? { uuid: '', status: 'none' }
  }
  // The request may have been in flight for longer than the search for its run.
  await expect.poll(async () => (await find()).status).not.toMatch(/queued|running/)
  const { uuid, status: end } = await find()
  if (end === 'none' || !left) {
    // The client disconnected before its request was read, so nothing may have started.
    expect(each.point, told).toHaveProperty('ms')
    expect(call, told).toBeUndefined()
    return
  }
  if (each.mode === 'background' || graceMs === 30_000) {
    expect(end, told).toBe('completed')
    // In the race, a pending promise loses against a resolved one.
    expect(call && (await Promise.race([call.left, 'never'])), told).toBe('never')
    return
  }
  expect(end, told).toBe('stopped')
  expect(await bench.conversation(uuid), told).toMatchObject({ error: { errorCode: 'abort_error' } })
  if (!call) return
  const gone = await call.left
  expect(gone.heardMs - Math.max(left.heardMs, call.called.heardMs), told).toBeLessThan(graceMs + 1_000)
  // A timer may fire a millisecond early.
  if (call.called.at < left.at) expect(gone.at - left.at, told).toBeGreaterThan(graceMs - 2)
}

/** Some clients of each mode may disconnect before the server has seen their request, others after a response head. */
function leaver(graceMs: number, index: number, random: Random): Leaver {
  return {
    name: `case-${graceMs}-${index}.`,
    mode: modes[index % modes.length] ?? 'stream',
    point: Math.floor(index / modes.length) % 2 === 0 ? { ms: random() * 60 } : { bytes: Math.floor(random() * 3_000) },
    isReset: random() < 0.3,
  }
}

/** Endless if the client's disconnect ends the call. Otherwise it takes some hundred milliseconds. */
function replyTo(request: FakeRequest, { graceMs, heard, calls }: Scene): FakeReply {
  const name = /case-\d+-\d+\./.exec(JSON.stringify(request.body))?.[0] ?? ''
  const isBackground = JSON.stringify(request.body).includes('background')
  calls.set(name, { called: now(heard), left: request.left.then(() => now(heard)) })
  if (isBackground || graceMs === 30_000) {
    return request.body['stream'] === true
      ? { deltas: Array(40).fill('word '), delayMs: 4 }
      : { text: 'word', delayMs: 160 }
  }
  return request.body['stream'] === true ? { deltas: Array(100_000).fill('word '), delayMs: 4 } : { hang: 'after-head' }
}

function now(heard: HeardTime): Moment {
  return { at: performance.now(), heardMs: heard.passedMs() }
}

async function leave({ calls, heard }: Scene, { name, mode, point, isReset }: Leaver): Promise<Moment> {
  const body = {
    path: 'ask',
    parameters: { name: `${name} ${mode}` },
    customIdentifier: name,
    stream: mode === 'stream' || mode === 'attach',
    background: mode === 'background',
  }
  let socket = send(`${bench.live}/documents/run`, body)
  if (mode === 'attach' || mode === 'background') {
    const starter = socket
    socket = send(`/conversations/${await conversationOf(starter)}/attach`, { stream: true })
    // The remaining reader keeps a run with a caller alive. A background run needs no reader.
    await conversationOf(socket)
    starter.destroy()
  }
  if ('ms' in point) await delay(point.ms)
  else if (mode === 'json') await expect.poll(() => calls.has(name), { interval: 5 }).toBe(true)
  else await received(socket, point.bytes)
  if (isReset) socket.resetAndDestroy()
  else socket.destroy()
  return now(heard)
}

function send(path: string, body: Record<string, unknown>): Socket {
  const { hostname, port } = new URL(bench.server.url)
  const text = JSON.stringify(body)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /api/v3${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bench.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
  return socket
}

function received(socket: Socket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    socket.on('data', (piece) => {
      count += piece.length
      if (count >= bytes) resolve()
    })
  })
}

function conversationOf(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (piece: Buffer) => {
      text += piece.toString('latin1')
      const uuid = /^x-conversation-uuid: (\S+)/im.exec(text)?.[1]
      if (uuid === undefined) return
      socket.off('data', read)
      resolve(uuid)
    }
    socket.on('data', read)
    socket.once('close', () => reject(new Error(`No conversation: ${text}`)))
  })
}

/** Waits until no run is supervised or queued. Checks several times, because a request may still be in flight. */
async function untilIdle(): Promise<void> {
  const isIdle = async () => {
    const { items } = (await bench.api('GET', '/conversations?limit=100')).body
    const states = (items as Record<string, unknown>[]).map(({ status }) => status)
    return (
      bench.server.deps.runs.active.list().length === 0 && !states.includes('queued') && !states.includes('running')
    )
  }
  for (let calm = 0; calm < 3; calm = (await isIdle()) ? calm + 1 : 0) await delay(100)
}
