/**
 * A load balancer without retries: each request goes to the next ready server, and its response is streamed back. A
 * failed request stays failed, so that a test sees it. If no server is ready, each of them gets requests, as with
 * Envoy and the load balancers of the large clouds: a database that pauses for a second makes all of them unready.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface RoundRobinProxy {
  readonly url: string
  /** The number of requests that each server got, by URL. */
  readonly served: ReadonlyMap<string, number>
  /** Descriptions of requests that failed between the proxy and a server. */
  readonly broken: readonly string[]
  add(url: string): void
  remove(url: string): void
  close(): Promise<void>
}

const checkEveryMs = 50

export async function roundRobinProxy(...urls: string[]): Promise<RoundRobinProxy> {
  const targets = new Map<string, boolean>(urls.map((url) => [url, true]))
  const served = new Map<string, number>()
  const broken: string[] = []
  let turn = 0
  let isClosed = false

  const nextTarget = (): string | undefined => {
    const ready = [...targets].filter(([, isReady]) => isReady).map(([url]) => url)
    const candidates = ready.length > 0 ? ready : [...targets.keys()]
    turn += 1
    return candidates[turn % candidates.length]
  }
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    const target = nextTarget()
    if (target === undefined) {
      broken.push(`${incoming.method} ${incoming.url}: there is no server`)
      outgoing.writeHead(502).end()
      return
    }
    served.set(target, (served.get(target) ?? 0) + 1)
    forward(target, incoming, outgoing, (reason) => broken.push(`${incoming.method} ${incoming.url}: ${reason}`))
  })
  const check = async (url: string) => {
    const isReady = await fetch(`${url}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (targets.has(url)) targets.set(url, isReady)
  }
  const checking = (async () => {
    while (!isClosed) {
      await Promise.all([...targets.keys()].map(check))
      await delay(checkEveryMs)
    }
  })()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    served,
    broken,
    add: (url) => void targets.set(url, true),
    remove: (url) => void targets.delete(url),
    async close() {
      isClosed = true
      await checking
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function forward(target: string, incoming: IncomingMessage, outgoing: ServerResponse, fail: (why: string) => void) {
  const { method, url } = incoming
  const { connection: _, ...headers } = incoming.headers
  const { hostname, port } = new URL(target)
  let hasLeft = false
  const onwards = request({ host: hostname, port, path: url, method, headers, agent: false }, (answer) => {
    const { connection: _close, ...answered } = answer.headers
    outgoing.writeHead(answer.statusCode ?? 502, answered)
    outgoing.flushHeaders()
    answer.pipe(outgoing)
    answer.on('error', (error) => {
      if (!hasLeft) fail(error.message)
      outgoing.destroy()
    })
  })
  onwards.on('error', (error) => {
    if (!hasLeft && !outgoing.headersSent) fail(error.message)
    outgoing.destroy()
  })
  outgoing.on('close', () => {
    hasLeft = !outgoing.writableFinished
    onwards.destroy()
  })
  incoming.pipe(onwards)
}
