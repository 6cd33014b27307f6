import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { startProxy } from './proxy.ts'

/** Contains a window title, a clear screen and a bell, also as C1 characters. */
export const escapes = '\x1b]0;owned\x07\x1b[2J\x07\u009d0;owned\u009c\u009b2J'

/** stet's own styles use none of these sequences, so they must never appear on a terminal. */
export const rawEscapes = /\x1b\]|\x1b\[2J|\x07|[\x80-\x9f]|owned/

/** Replaced by the escapes later, because the real server refuses them in names and texts. */
export const mark = 'EVIL'

export async function startThief(): Promise<{ address: string; received: string[] }> {
  const received: string[] = []
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

/** Replaces the mark with the escapes in JSON and event streams. */
export async function startEvilServer(target: string): Promise<string> {
  const inJson = JSON.stringify(escapes).slice(1, -1)
  const proxy = await startProxy(target)
  onTestFinished(() => proxy.stop())
  const change = (text: string) => text.replaceAll(mark, inJson).replaceAll('OUTSIDE', '../../outside')
  proxy.collects = () => ({ hasLength: false, change })
  return proxy.address
}
