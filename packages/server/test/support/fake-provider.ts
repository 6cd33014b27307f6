/** A provider for tests and checks: an HTTP server that speaks chat completions, Responses and Messages. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { anthropicWire } from './fake-anthropic-wire.ts'
import { chatWire, type FakeAnswer, type FakeWire } from './fake-provider-wire.ts'
import { responsesWire } from './fake-responses-wire.ts'

export interface FakeFailure {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

export interface FakeBytes {
  /** The parts of the body, each written unchanged. */
  raw: readonly (string | Uint8Array)[]
  status?: number
  headers?: Record<string, string>
  delayMs?: number
  /** The body ends normally, with a closed connection, with a reset connection, or never. */
  end?: 'clean' | 'broken' | 'reset' | 'never'
}

export type FakeReply = FakeAnswer | FakeFailure | FakeBytes | { garbage: true } | { reset: true }
export type FakeReplyFor = FakeReply | ((request: FakeRequest) => FakeReply)

export interface FakeRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /** Resolves if the client disconnects before the answer is complete. */
  left: Promise<void>
}

export interface FakeProvider {
  readonly url: string
  readonly port: number
  readonly requests: FakeRequest[]
  readonly connections: number
  readonly aborted: number
  /** Queues replies. A function receives the request. When the queue is empty, the default reply is sent. */
  enqueue(...replies: FakeReplyFor[]): void
  /** Drops the queued replies, for example those that a failed test has left. */
  clear(): void
  setDefault(reply: FakeReplyFor): void
  /** `count` is 1-based. */
  waitForRequest(count: number): Promise<FakeRequest>
  waitForAbort(count: number): Promise<void>
  closeConnections(): void
  close(): Promise<void>
}

interface Waiter {
  isDone: () => boolean
  resolve: () => void
}

export async function fakeProvider(): Promise<FakeProvider> {
  const requests: FakeRequest[] = []
  const queue: FakeReplyFor[] = []
  let fallback: FakeReplyFor = { text: 'Hello from the fake provider.' }
  let aborted = 0
  let connections = 0
  let waiters: Waiter[] = []
  const wake = () => {
    for (const waiter of waiters) if (waiter.isDone()) waiter.resolve()
    waiters = waiters.filter((waiter) => !waiter.isDone())
  }
  const until = (isDone: () => boolean) =>
    isDone() ? Promise.resolve() : new Promise<void>((resolve) => void waiters.push({ isDone, resolve }))

  const server = createServer((incoming, response) => {
    const left = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (response.writableFinished || cutByUs.has(response)) return
        aborted += 1
        resolve()
        wake()
      })
    })
    readRequest(incoming, left).then(
      (request) => {
        requests.push(request)
        wake()
        const next = queue.shift() ?? fallback
        return answer(request, typeof next === 'function' ? next(request) : next, response)
      },
      () => response.destroy(),
    )
  })
  server.on('connection', () => {
    connections += 1
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    get connections() {
      return connections
    },
    get aborted() {
      return aborted
    },
    enqueue: (...replies) => void queue.push(...replies),
    clear: () => void queue.splice(0),
    setDefault: (reply) => {
      fallback = reply
    },
    waitForRequest: async (count) => {
      await until(() => requests.length >= count)
      const request = requests[count - 1]
      if (!request) throw new Error(`There is no request ${count}`)
      return request
    },
    waitForAbort: (count) => until(() => aborted >= count),
    closeConnections: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const cutByUs = new WeakSet<ServerResponse>()

async function readRequest(incoming: IncomingMessage, left: Promise<void>): Promise<FakeRequest> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString('utf8')
  return {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    left,
  }
}

async function answer(request: FakeRequest, reply: FakeReply, response: ServerResponse): Promise<void> {
  const path = request.path.split('?')[0] ?? ''
  const wire = [chatWire, responsesWire, anthropicWire].find((one) => path.endsWith(one.path))
  if (!wire) {
    sendJson(response, 404, { error: { message: `Unknown path ${request.path}`, type: 'invalid_request_error' } }, {})
  } else if ('reset' in reply) {
    cutByUs.add(response)
    response.socket?.resetAndDestroy()
  } else if ('raw' in reply) {
    await sendBytes(response, reply)
  } else if ('garbage' in reply) {
    await sendBytes(response, { raw: ['<html>\u0000 this is {not JSON', new Uint8Array([0xff, 0xfe, 0x80])] })
  } else if ('status' in reply) {
    const body = reply.body ?? { error: { message: `Failure ${reply.status}`, type: 'error', code: null } }
    sendJson(response, reply.status, body, reply.headers ?? {})
  } else if (reply.hang === 'before-head') {
    return
  } else if (request.body['stream'] === true) {
    await sendStream(wire, request, reply, response)
  } else {
    await sendPlain(wire, request, reply, response)
  }
}

async function sendBytes(response: ServerResponse, reply: FakeBytes): Promise<void> {
  response.writeHead(reply.status ?? 200, { 'content-type': 'text/event-stream', ...reply.headers })
  for (const piece of reply.raw) {
    if (response.destroyed) return
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    if (reply.delayMs !== undefined) await delay(reply.delayMs)
  }
  const { end = 'clean' } = reply
  if (end === 'clean') response.end()
  else if (end !== 'never') cut(response, end === 'reset')
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string>): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}

async function sendStream(
  wire: FakeWire,
  request: FakeRequest,
  reply: FakeAnswer,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  response.flushHeaders()
  if (reply.hang === 'after-head') return
  const identity = { id: 'chatcmpl-fake', model: String(request.body['model']) }
  response.write(wire.head(identity, reply))
  let sent = 0
  for (const frame of wire.content(identity, reply)) {
    if (reply.cut === sent) return cut(response)
    if (sent === (reply.gateAfter ?? 1) && reply.gate) await reply.gate
    if (reply.hang === 'mid-stream' && sent > 0) return
    if (reply.delayMs !== undefined) await delay(reply.delayMs)
    if (response.destroyed) return
    response.write(frame)
    sent += 1
  }
  if (reply.hang === 'mid-stream') return
  if (reply.cut !== undefined) return cut(response)
  if (sent <= (reply.gateAfter ?? 1) && reply.gate) await reply.gate
  if (response.destroyed) return
  const wantsUsage = (request.body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true
  response.end(reply.noEndMark === true ? '' : wire.end(identity, reply, wantsUsage))
}

async function sendPlain(
  wire: FakeWire,
  request: FakeRequest,
  reply: FakeAnswer,
  response: ServerResponse,
): Promise<void> {
  if (reply.gate) await reply.gate
  if (reply.delayMs !== undefined) await delay(reply.delayMs)
  if (response.destroyed) return
  const text = JSON.stringify(wire.plain({ id: 'chatcmpl-fake', model: String(request.body['model']) }, reply))
  if (reply.hang === undefined && reply.cut === undefined) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  if (reply.hang !== 'after-head') response.write(text.slice(0, text.length / 2))
  if (reply.cut !== undefined) cut(response)
}

/** Breaks the connection a moment later, so that the written bytes reach the client first. */
function cut(response: ServerResponse, isReset = false): void {
  cutByUs.add(response)
  response.flushHeaders()
  setImmediate(() => (isReset ? response.socket?.resetAndDestroy() : response.destroy()))
}
