/** An HTTP proxy in front of the server that records client requests and can refuse them. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SentRequest {
  method: string
  /** The raw path from the request line, still percent-encoded. */
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: Record<string, unknown> | undefined
}

export interface Front {
  port: number
  requests: SentRequest[]
  /** Refuses the next requests with these statuses and an error body. */
  refuseNext(...statuses: number[]): void
  close(): Promise<void>
}

export async function openFront(target: URL): Promise<Front> {
  const requests: SentRequest[] = []
  const refusals: number[] = []
  // Without a keep-alive timeout only the client closes connections, so none closes during a request.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const bytes = Buffer.concat(pieces)
    requests.push(sentRequest(incoming, bytes.toString('utf8')))
    const refusal = refusals.shift()
    if (refusal === undefined) return forward(target, incoming, bytes, outgoing)
    const name = 'RefusedError'
    outgoing.writeHead(refusal, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ name, errorCode: name, message: `Refused with ${refusal}`, details: {} }))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    refuseNext: (...statuses) => void refusals.push(...statuses),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function sentRequest({ method, url, headers }: IncomingMessage, text: string): SentRequest {
  const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>)
  return { method: method ?? '', path: url ?? '', headers, text, body }
}

function forward(target: URL, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
  const { method, url, headers } = incoming
  const onwards = request(
    { host: target.hostname, port: target.port, path: url, method, headers, agent: false },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.rawHeaders)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    },
  )
  onwards.on('error', () => outgoing.destroy())
  outgoing.on('close', () => onwards.destroy())
  onwards.end(body)
}
