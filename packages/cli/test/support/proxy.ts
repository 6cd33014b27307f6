import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Way {
  address: string
  readonly seen: string[]
  /** One entry per event stream: after how many events the connection breaks. 0 breaks it before the response head. */
  readonly cuts: number[]
  held: RegExp | undefined
  /** Requests whose connection breaks. */
  broken: RegExp | undefined
  /** Routes that the server shall not have. */
  lacks: RegExp | undefined
  /** Collects a response before it is forwarded, and may change its text. */
  collects: ((url: string) => { hasLength: boolean; change?(text: string): string } | undefined) | undefined
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
    broken: undefined,
    lacks: undefined,
    collects: undefined,
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
  if (proxy.held?.test(url)) return
  if (proxy.broken?.test(url)) {
    outgoing.destroy()
    return
  }
  const path = proxy.lacks?.test(url) ? url.replace(/(?=\?|$)/, '/lacking') : url
  forward(incoming, outgoing, target + path, proxy)
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, url: string, proxy: Way): void {
  const { method } = incoming
  const collecting = proxy.collects?.(incoming.url ?? '')
  const headers = { ...incoming.headers, ...(collecting && { 'accept-encoding': 'identity' }) }
  const passed = request(url, { method, headers }, (answer) => {
    if (collecting) return void collect(answer, outgoing, collecting)
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
  let rest = ''
  let count = 0
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    rest += chunk
    for (let end = rest.indexOf('\n\n'); end >= 0 && count < limit; end = rest.indexOf('\n\n')) {
      outgoing.write(rest.slice(0, end + 2))
      rest = rest.slice(end + 2)
      count += 1
    }
    // Flushes before the cut, so that the reader receives exactly these events.
    if (count === limit) outgoing.write('', () => outgoing.destroy())
  })
  answer.on('end', () => outgoing.end())
}

async function collect(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  { hasLength, change = (text) => text }: { hasLength: boolean; change?(text: string): string },
): Promise<void> {
  try {
    const { 'content-type': type = '' } = answer.headers
    const whole = Buffer.from(change(await text(answer)))
    const length = hasLength ? { 'content-length': whole.length } : {}
    outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': type, ...length }).end(whole)
  } catch {
    outgoing.destroy()
  }
}
