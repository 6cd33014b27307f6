import { connect, type Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { count, seed, timeFor } from '../support/counts.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

const graces = [0, 200, 30_000]
const casesPerGrace = Math.ceil(count(30, 500) / graces.length)
const atOnce = 10
const modes = ['json', 'stream', 'attach', 'background'] as const

interface Leaver {
  name: string
  mode: (typeof modes)[number]
  /** After so much time, or so many bytes of the answer. */
  point: { ms: number } | { bytes: number }
  isReset: boolean
}

/** When the provider got the call of a case, and when it saw it end early. */
interface Call {
  calledAt: number
  leftAt?: number
}

it.each(graces)(
  'promise 10: clients that leave at any point, %i ms of grace',
  async (graceMs) => {
    const random = seededRandom(seed + graceMs)
    const bench = await runBench(
      { ask: prompt('<user>{{ name }}</user>', 'maxRetries: 0\n') },
      { STET_GRACE_MS: String(graceMs) },
    )
    onTestFinished(() => bench.close())
    const calls = new Map<string, Call>()
    bench.fake.setDefault((request) => replyTo(request, calls, graceMs))
    let seen = 0
    for (let first = 0; first < casesPerGrace; first += atOnce) {
      const leavers = Array.from({ length: Math.min(atOnce, casesPerGrace - first) }, (_, place) =>
        leaver(first + place, random),
      )
      const stalls = monitorEventLoopDelay({ resolution: 5 })
      stalls.enable()
      const left = await Promise.all(leavers.map((each) => leave(bench, each)))
      await untilIdle(bench)
      stalls.disable()
      // Client, server and provider share this process: while it stalls nobody can be in time.
      const allowanceMs = 1_000 + stalls.max / 1e6
      for (const [place, each] of leavers.entries()) {
        const told = `seed ${seed}, ${JSON.stringify(each)}`
        const call = calls.get(each.name)
        const found = await bench.api('GET', `/conversations?customIdentifier=${each.name}`)
        const [conversation] = found.body['items'] as Record<string, unknown>[]
        if (!conversation) {
          // Gone before its request was read: nothing may have been started for it.
          expect(call, told).toBeUndefined()
          continue
        }
        seen += 1
        if (each.mode === 'background' || graceMs === 30_000) {
          expect(conversation, told).toMatchObject({ status: 'completed' })
          expect(call?.leftAt, told).toBeUndefined()
        } else {
          expect(conversation, told).toMatchObject({ status: 'stopped' })
          const tookMs = call?.leftAt === undefined ? 0 : call.leftAt - Math.max(left[place] ?? 0, call.calledAt)
          expect(tookMs, told).toBeLessThan(graceMs + allowanceMs)
          // A timer may fire a millisecond early.
          if (call && call.calledAt < (left[place] ?? 0)) expect(tookMs, told).toBeGreaterThan(graceMs - 2)
        }
      }
    }
    expect(seen).toBeGreaterThan(casesPerGrace / 2)
  },
  timeFor(casesPerGrace, 2_000),
)

function leaver(index: number, random: Random): Leaver {
  return {
    name: `case-${index}`,
    mode: modes[Math.floor(random() * modes.length)] ?? 'stream',
    point: random() < 0.5 ? { ms: random() * 60 } : { bytes: Math.floor(random() * 3_000) },
    isReset: random() < 0.3,
  }
}

/** An answer without end where the client is what ends it; else one of some hundred milliseconds. */
function replyTo(request: FakeRequest, calls: Map<string, Call>, graceMs: number): FakeReply {
  const name = /case-\d+/.exec(JSON.stringify(request.body))?.[0] ?? ''
  const isBackground = JSON.stringify(request.body).includes('background')
  const call: Call = { calledAt: performance.now() }
  calls.set(name, call)
  void request.left.then(() => {
    call.leftAt = performance.now()
  })
  if (isBackground || graceMs === 30_000) {
    return request.body['stream'] === true
      ? { deltas: Array(40).fill('word '), delayMs: 4 }
      : { text: 'word', delayMs: 160 }
  }
  return request.body['stream'] === true ? { deltas: Array(100_000).fill('word '), delayMs: 4 } : { hang: 'after-head' }
}

/** Starts the run, leaves at the case's point and answers when that was. */
async function leave(bench: RunBench, { name, mode, point, isReset }: Leaver): Promise<number> {
  const body = {
    path: 'ask',
    parameters: { name: `${name} ${mode}` },
    customIdentifier: name,
    stream: mode === 'stream' || mode === 'attach',
    background: mode === 'background',
  }
  let socket = send(bench, `${bench.live}/documents/run`, body)
  if (mode === 'attach') {
    const starter = socket
    socket = send(bench, `/conversations/${await conversationOf(starter)}/attach`, { stream: true })
    // The one that stays behind keeps the run.
    await conversationOf(socket)
    starter.destroy()
  }
  const isShort = mode === 'json' || mode === 'background'
  await ('ms' in point ? delay(point.ms) : received(socket, isShort ? 1 : point.bytes))
  if (isReset) socket.resetAndDestroy()
  else socket.destroy()
  return performance.now()
}

function send(bench: RunBench, path: string, body: Record<string, unknown>): Socket {
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

/** Resolves after so many bytes; a plain answer that never comes is not waited for. */
function received(socket: Socket, bytes: number): Promise<void> {
  return new Promise((resolve) => {
    let count = 0
    socket.on('data', (piece) => {
      count += piece.length
      if (count >= bytes) resolve()
    })
    if (bytes === 1) setTimeout(resolve, 100)
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

/** No run is driven or queued; looked at several times, since a request may still be on its way. */
async function untilIdle(bench: RunBench): Promise<void> {
  const isIdle = async () => {
    const { items } = (await bench.api('GET', '/conversations?limit=100')).body
    const states = (items as Record<string, unknown>[]).map(({ status }) => status)
    return bench.server.deps.activeRuns.list().length === 0 && !states.includes('queued') && !states.includes('running')
  }
  for (let calm = 0; calm < 3; calm = (await isIdle()) ? calm + 1 : 0) await delay(100)
}
