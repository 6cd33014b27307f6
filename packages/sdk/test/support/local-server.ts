import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Recorded {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: unknown
}

export type Reply = (response: ServerResponse, request: Recorded) => void | Promise<void>

/** Starts a server that sends reply n to request n, and the last reply from then on. It closes after the test. */
export async function localServer(...replies: Reply[]): Promise<{ url: string; requests: Recorded[] }> {
  const requests: Recorded[] = []
  const server = createServer(async (request, response) => {
    const text = await textOf(request)
    if (text === undefined) return
    const { method = '', url = '', headers } = request
    const recorded = { method, url, headers, body: text === '' ? undefined : JSON.parse(text) }
    requests.push(recorded)
    await replies[Math.min(requests.length, replies.length) - 1]?.(response, recorded)
  })
  // After a suspension, a keep-alive timeout would close a connection during the next request.
  server.keepAliveTimeout = 0
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, requests }
}

// If a port were reused soon, the next request could use a connection to the old server.
const given = new Set<number>()

async function listen(server: Server): Promise<number> {
  for (;;) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    if (!given.has(port)) {
      given.add(port)
      return port
    }
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Reads the body. Returns undefined if the client disconnected while sending. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString()
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return text(JSON.stringify(body), status, { 'Content-Type': 'application/json', ...headers })
}

export function text(body: string, status = 200, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, headers).end(body)
  }
}

const EVENT_STREAM = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Request-Id': 'req_1' }

export function events(body: string, o: { chunkBytes?: number; headers?: Record<string, string> } = {}): Reply {
  return async (response) => {
    const bytes = Buffer.from(body)
    const size = o.chunkBytes ?? bytes.length
    response.writeHead(200, { ...EVENT_STREAM, ...o.headers })
    response.flushHeaders()
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size))
      // A tick between writes keeps the chunks separate on the wire.
      await new Promise(setImmediate)
    }
    response.end()
  }
}

export function openEvents(body: string, o: { headers?: Record<string, string>; onClose?: () => void } = {}): Reply {
  return (response) => {
    response.writeHead(200, { ...EVENT_STREAM, ...o.headers })
    response.flushHeaders()
    if (body !== '') response.write(body)
    if (o.onClose) response.on('close', o.onClose)
  }
}

export function cutEvents(body: string): Reply {
  return (response) => {
    response.writeHead(200, EVENT_STREAM)
    response.write(body, () => response.destroy())
  }
}
