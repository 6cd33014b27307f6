import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRunEventLog } from '../../src/adapters/in-process/run-event-log.ts'
import { createJsonLogger } from '../../src/adapters/logging/json-logger.ts'
import { framesOf, type RunFrames } from '../../src/features/runs/events/watch-run.ts'
import type { AddFrame, RunLogWriter } from '../../src/features/runs/ports.ts'
import { streamOf } from '../../src/http/body/sse.ts'
import { addFrame } from '../../src/wire/run-frames.ts'

let server: Server
let writer: RunLogWriter
let listeners: number[]
let writes: string[]
let failures: string[]
let serverSocket: Socket
let frames: RunFrames | undefined

beforeEach(async () => {
  listeners = []
  writes = []
  failures = []
  frames = undefined
  const log = createRunEventLog(1_000_000)
  writer = log.open('run', (count) => listeners.push(count))
  server = createServer(({ socket }, res) => {
    serverSocket = socket
    const write = socket.write.bind(socket) as (chunk: string, ...more: unknown[]) => boolean
    // Counts only writes of frames, not the head and the end of the body.
    socket.write = (chunk: string, ...more: unknown[]) => {
      if (/frame|xxx/.test(chunk)) writes.push(chunk)
      return write(chunk, ...more)
    }
    const reader = log.follow('run', 0)
    if (!reader) throw new Error('The log is open')
    const logger = { ...createJsonLogger(process.stderr, 'off'), error: (event: string) => void failures.push(event) }
    const run = { conversationUuid: 'c', frames: (as: AddFrame) => frames ?? framesOf(reader, as) }
    streamOf(run, addFrame, { logger }).pipe(res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(async () => {
  vi.useRealTimers()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

async function open(): Promise<IncomingMessage> {
  const [response] = (await once(get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), 'response')) as [
    IncomingMessage,
  ]
  return response.setEncoding('utf8')
}

/** Waits until the buffers on both sides are full. */
async function fullSocket(): Promise<void> {
  let seen = 0
  for (let same = 0; same < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    same = serverSocket.writableNeedDrain && writes.length === seen ? same + 1 : 0
    seen = writes.length
  }
}

const append = (id: number) => writer.append([], [{ id, pieces: `frame ${id};` }])

it('sends the head before any event, the first event immediately, and the rest of a tick in one write', async () => {
  const response = await open()
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-conversation-uuid': 'c',
  })
  append(1)
  expect((await once(response, 'data'))[0]).toBe('frame 1;')
  append(2)
  await Promise.resolve()
  for (const id of [3, 4, 5]) append(id)
  writer.close()
  let rest = ''
  for await (const chunk of response) rest += String(chunk)
  expect(rest).toBe('frame 2;frame 3;frame 4;frame 5;')
  expect(writes.length).toBeLessThanOrEqual(3)
})

it('sends frames without chunked encoding to an HTTP/1.0 client', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.0\r\n\r\n')
  await expect.poll(() => listeners).toEqual([1])
  append(1)
  writer.close()
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  expect(text.slice(text.indexOf('\r\n\r\n'))).toBe('\r\n\r\nframe 1;')
})

it('releases a reader immediately when it disconnects', async () => {
  const response = await open()
  append(1)
  await once(response, 'data')
  response.destroy()
  await expect.poll(() => listeners).toEqual([1, 0])
})

it('closes a stalled reader after five minutes, but not while the run waits for its tool result', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const response = await open()
  response.pause()
  writer.setCallerAwaited(true)
  writer.append([], [{ id: 1, pieces: 'x'.repeat(32 * 1024 * 1024) }])
  await fullSocket()
  vi.advanceTimersByTime(3_600_000)
  expect(listeners).toEqual([1])
  // The five minutes start when the tool result arrives.
  writer.setCallerAwaited(false)
  vi.advanceTimersByTime(290_000)
  expect(listeners).toEqual([1])
  vi.advanceTimersByTime(20_000)
  await expect.poll(() => listeners).toEqual([1, 0])
})

it('sends a ping within 15 s on a silent stream, and none on a busy one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const response = await open()
  vi.advanceTimersByTime(15_000)
  expect((await once(response, 'data'))[0]).toBe(': ping\n')
  vi.advanceTimersByTime(4_000)
  append(1)
  expect((await once(response, 'data'))[0]).toBe('frame 1;')
  vi.advanceTimersByTime(8_000)
  append(2)
  expect((await once(response, 'data'))[0]).toBe('frame 2;')
})

it('closes only the affected stream if a ping fails', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const failing = await open()
  const isCut = once(failing, 'error')
  serverSocket.write = () => {
    throw new Error('A write that nobody foresaw')
  }
  const other = await open()
  vi.advanceTimersByTime(10_000)
  expect((await once(other, 'data'))[0]).toBe(': ping\n')
  await isCut
  expect(failures).toEqual(['http.stream-failed'])
})

it('closes a failed stream and continues the others in the same tick', async () => {
  const failing = await open()
  const failingSocket = serverSocket
  const { write } = failingSocket
  const other = await open()
  const isCut = once(failing, 'error')
  append(1)
  failingSocket.write = () => {
    throw new Error('A write that nobody foresaw')
  }
  append(2)
  await isCut
  failingSocket.write = write
  await expect.poll(() => listeners.slice(-2)).toEqual([2, 1])
  append(3)
  writer.close()
  let text = ''
  for await (const chunk of other) text += String(chunk)
  expect(text).toBe('frame 1;frame 2;frame 3;')
  expect(failures).toEqual(['http.stream-failed'])
})

it('resumes writing when the socket has drained, and ends the response once', async () => {
  const part = Buffer.alloc(262_144, 'y')
  const unsent: number[] = []
  let left = 40
  let releases = 0
  frames = {
    take: () => {
      unsent.push(serverSocket.writableLength)
      return left-- > 0 ? part : ''
    },
    hasMore: () => false,
    listen: () => {},
    isAtEnd: () => left <= 0,
    isCallerAwaited: () => false,
    release: () => {
      releases += 1
    },
  }
  let size = 0
  for await (const piece of await open()) size += String(piece).length
  expect(size).toBe(40 * part.length)
  // The head may still be buffered at the first read.
  expect(Math.max(...unsent.slice(1))).toBe(0)
  expect(unsent).toHaveLength(41)
  // Released at the end of the response and at the close of the socket.
  await expect.poll(() => releases).toBe(2)
})
