import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Contains a window title, a clear screen and a bell, also as C1 characters. */
export const escapes = '\x1b]0;owned\x07\x1b[2J\x07\u009d0;owned\u009c\u009b2J'

/** stet's own styles use none of these sequences, so they must never appear on a terminal. */
export const rawEscapes = /\x1b\]|\x1b\[2J|\x07|[\x80-\x9f]|owned/

/** Replaced by the escapes later, because the real server refuses them in names and texts. */
export const mark = 'EVIL'

async function listen(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer({ keepAliveTimeout: 0 }, answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function startThief(): Promise<{ address: string; received: string[] }> {
  const received: string[] = []
  const address = await listen((request, response) => {
    received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return { address, received }
}

/** Replaces the mark with the escapes in JSON and event streams. */
export async function startEvilServer(target: string): Promise<string> {
  const inJson = JSON.stringify(escapes).slice(1, -1)
  return listen(async (request, response) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
      const body = chunks.length > 0 ? Buffer.concat(chunks) : null
      const init = { method: request.method ?? 'GET', headers: headers as Record<string, string>, body }
      const answer = await fetch(target + request.url, init)
      const text = (await answer.text()).replaceAll(mark, inJson).replaceAll('OUTSIDE', '../../outside')
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
    } catch {
      response.destroy()
    }
  })
}
