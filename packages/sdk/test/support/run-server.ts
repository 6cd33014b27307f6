import type { ServerResponse } from 'node:http'
import type { ToolCall } from '../../src/index.ts'
import { json, localServer, type Recorded, type Reply } from './local-server.ts'
import { frame, runEvents, SOURCE, USAGE, UUID } from './sample-run.ts'

type Payload = ReturnType<typeof runEvents>[number]

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
  /** Where connection n ends: before the event with this number, in the middle of it (n.5), or before the head. */
  cuts: (number | 'before the head')[]
  firstId?: number
  /** From this event on, the server waits for one tool result per earlier call. */
  waitsAt?: number
  refusals?: number
  /** A stop ends the run with these open calls. */
  stopsWith?: ToolCall[]
}

export interface RunServer {
  url: string
  requests: Recorded[]
  results: unknown[]
  attaches: () => Recorded[]
  stops: () => Recorded[]
}

/** Serves one run over any number of connections, and cuts each one where the test chooses. */
export async function runServer({
  events = runEvents(['Hel', 'lo ', 'wörld']),
  behaviour,
  cuts,
  firstId = 1,
  waitsAt = Number.POSITIVE_INFINITY,
  refusals = 0,
  stopsWith,
}: RunServerOptions): Promise<RunServer> {
  const { isWhole, ids } = BEHAVIOURS[behaviour]
  const results: unknown[] = []
  const calls = events.slice(0, waitsAt).filter(([, { type }]) => type === 'tool-call').length
  let wake = () => {}
  const goesOn = new Promise<void>((resolve) => {
    wake = resolve
  })
  let isStopped = false
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
      if (index >= waitsAt) await goesOn
      if (isStopped) return void response.end(stopFrame(index + firstId, stopsWith ?? []))
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
      if (results.length <= refusals)
        return json({ name: 'PayloadTooLargeError', message: 'too large' }, 413)(response, request)
      if (results.length === calls + refusals) wake()
      return void response.setHeader('Content-Type', 'application/json').end('{"success":true}')
    }
    if (request.url.endsWith('/stop')) {
      isStopped = stopsWith !== undefined
      if (isStopped) wake()
      return void response.end('{}')
    }
    return serve(response, request)
  }
  const { url, requests } = await localServer(route)
  const to = (path: string) => requests.filter((request) => request.url.endsWith(path))
  return { url, requests, results, attaches: () => to('/attach'), stops: () => to('/stop') }
}

// Deliver the written bytes before destroying the socket.
function end(response: ServerResponse): void {
  response.write(':\n', () => response.destroy())
}

function stopFrame(id: number, open: readonly ToolCall[]): string {
  const content = open.map(({ id, name, arguments: args }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    args,
  }))
  const error = {
    name: 'DocumentRunError',
    message: 'Stopped',
    errorCode: 'abort_error',
    code: 'abort_error',
    details: {},
  }
  const messages = [{ role: 'assistant', content }]
  const about = {
    uuid: UUID,
    timestamp: 1767322800123,
    providerLogUuid: '',
    source: SOURCE,
    tokenUsage: USAGE,
    cost: 0.5,
  }
  return frame('latitude-event', { type: 'chain-error', messages, error, ...about }, id)
}
