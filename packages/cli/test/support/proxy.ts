import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Way {
  address: string
  readonly seen: string[]
  /** One entry per event stream: after how many events the connection breaks. 0 breaks it before the response head. */
  readonly cuts: number[]
  held: RegExp | undefined
  before: ((line: string) => Promise<void>) | undefined
  stop(): Promise<void>
}

export async function startProxy(target: string): Promise<Way> {
  // Keeps idle connections open, so that none closes while a request is sent.
  const server = createServer(
    { keepAliveTimeout: 0 },
    (incoming, outgoing) => void receive(incoming, outgoing, target, proxy),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy: Way = {
    address: `http://127.0.0.1:${port}`,
    seen: [],
    cuts: [],
    held: undefined,
    before: undefined,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

async function receive(incoming: IncomingMessage, outgoing: ServerResponse, target: string, proxy: Way): Promise<void> {
  const { method, url = '/' } = incoming
  const line = `${method} ${url}`
  proxy.seen.push(line)
  await proxy.before?.(line)
  if (!proxy.held?.test(url)) forward(incoming, outgoing, target + url, proxy)
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, url: string, proxy: Way): void {
  const { method, headers } = incoming
  const passed = request(url, { method, headers }, (answer) => {
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
    const cut = isStream ? proxy.cuts.shift() : undefined
    if (cut === 0) return void outgoing.destroy()
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    outgoing.flushHeaders()
    if (cut === undefined) answer.pipe(outgoing)
    else passEvents(answer, outgoing, cut)
  })
  passed.on('error', () => outgoing.destroy())
  outgoing.on('close', () => passed.destroy())
  incoming.pipe(passed)
}

function passEvents(answer: IncomingMessage, outgoing: ServerResponse, limit: number): void {
  let text = ''
  let count = 0
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n'); end >= 0 && count < limit; end = text.indexOf('\n\n')) {
      outgoing.write(text.slice(0, end + 2))
      text = text.slice(end + 2)
      count += 1
    }
    // Flushes before the cut, so that the reader receives exactly these events.
    if (count === limit) outgoing.write('', () => outgoing.destroy())
  })
  answer.on('end', () => outgoing.end())
}
