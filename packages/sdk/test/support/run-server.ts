import type { ServerResponse } from 'node:http'
import { localServer, type Recorded, type Reply } from './local-server.ts'
import { frame, runEvents, UUID } from './sample-run.ts'

type Payload = ReturnType<typeof runEvents>[number]

/** How a server answers an attach. */
export const BEHAVIOURS = {
  'honours the id': { isWhole: false, ids: () => true },
  'replays all with ids': { isWhole: true, ids: () => true },
  'replays all without ids': { isWhole: true, ids: (connection: number) => connection === 0 },
  'never sends ids': { isWhole: true, ids: () => false },
} as const
export type Behaviour = keyof typeof BEHAVIOURS

export interface RunServerOptions {
  events?: Payload[]
  behaviour: Behaviour
  /** Where connection n ends: before the event of this number, in the middle of it (n.5), or before the head. */
  cuts: (number | 'before the head')[]
  /** The id of the first event, 1. */
  firstId?: number
  /** Events from this one on exist when so many tool results have come. */
  waitsAt?: number
}

export interface RunServer {
  url: string
  requests: Recorded[]
  /** The bodies of the tool results. */
  results: unknown[]
  attaches: () => Recorded[]
  stops: () => Recorded[]
}

/** One run that any number of connections may read, each cut where the test says. */
export async function runServer({
  events = runEvents(['Hel', 'lo ', 'wörld']),
  behaviour,
  cuts,
  firstId = 1,
  waitsAt = Number.POSITIVE_INFINITY,
}: RunServerOptions): Promise<RunServer> {
  const { isWhole, ids } = BEHAVIOURS[behaviour]
  const results: unknown[] = []
  let wake = () => {}
  const resultCame = new Promise<void>((resolve) => {
    wake = resolve
  })
  let connections = 0

  async function serve(response: ServerResponse, { headers }: Recorded): Promise<void> {
    const connection = connections++
    const cut = cuts[connection] ?? Number.POSITIVE_INFINITY
    if (cut === 'before the head') return void response.destroy()
    const seen = isWhole ? undefined : headers['last-event-id']
    const from = seen === undefined ? 0 : Number(seen) - firstId + 1
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'X-Request-Id': `req_${connection}`,
      'X-Conversation-Uuid': UUID,
    })
    response.flushHeaders()
    for (let index = from; index < events.length; index++) {
      if (index >= cut) return end(response)
      if (index >= waitsAt) await resultCame
      const [event, data] = events[index] as Payload
      const text = ids(connection) ? frame(event, data, firstId + index) : frame(event, data, 0).replace('id: 0\n', '')
      const isHalf = cut - index === 0.5
      response.write(isHalf ? Buffer.from(text).subarray(0, text.length / 2) : text)
      if (isHalf) return end(response)
      await new Promise(setImmediate)
    }
    if (cut === events.length) end(response)
    else response.end()
  }

  const route: Reply = (response, request) => {
    if (request.url.endsWith('/tools/results')) {
      results.push(request.body)
      wake()
      return void response.setHeader('Content-Type', 'application/json').end('{"success":true}')
    }
    if (request.url.endsWith('/stop')) return void response.end('{}')
    return serve(response, request)
  }
  const { url, requests } = await localServer(route)
  const to = (path: string) => requests.filter((request) => request.url.endsWith(path))
  return { url, requests, results, attaches: () => to('/attach'), stops: () => to('/stop') }
}

// what was written arrives, then the socket breaks
function end(response: ServerResponse): void {
  response.write(':\n', () => response.destroy())
}
