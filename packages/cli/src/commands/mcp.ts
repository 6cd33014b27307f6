/** Lets hosts that start programs use the MCP server: each line of standard input becomes a request. */
import { once } from 'node:events'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { text as textIn } from 'node:stream/consumers'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { isJsonObject } from '../settings/json-file.ts'

type Json = Record<string, unknown>

interface Bridge {
  url: string
  headers: Record<string, string>
  /** The requests that wait for an answer, by the JSON of their ids. */
  open: Map<string, AbortController>
  /** The version of the `initialize` result. Newer clients name theirs in each request. */
  version: string | undefined
  send(message: unknown): void
  log(line: string): void
}

const internalError = -32_603
const parseError = -32_700

export const command = defineCommand({
  summary: 'Connects an MCP host, such as a coding agent, over standard input and output. Hosts start it themselves.',
  examples: ['stet mcp', 'stet mcp --project 7 --profile staging', 'claude mcp add stet -- stet mcp'],
  parse: () => undefined,
  async run(_, ctx) {
    const bridge = await openBridge(ctx)
    const pending = new Set<Promise<void>>()
    for await (const line of linesOf(ctx.io.stdin())) {
      if (line.trim() === '') continue
      const message = parseMessage(line)
      if (!message) {
        bridge.send({ jsonrpc: '2.0', id: null, error: { code: parseError, message: 'Not a JSON-RPC message' } })
        continue
      }
      const work = pass(bridge, message)
      // Later requests need the version that its answer names.
      if (message['method'] === 'initialize') await work
      const done = work.finally(() => pending.delete(done))
      pending.add(done)
    }
    await Promise.all(pending)
  },
})

async function openBridge(ctx: Context): Promise<Bridge> {
  // Fails with the usual messages if there is no key.
  await ctx.client()
  const { apiKey, baseUrl, projectId } = await ctx.settings()
  return {
    url: `${baseUrl.value.replace(/\/api\/v3\/?$/, '')}/mcp`,
    headers: {
      Authorization: `Bearer ${apiKey?.value ?? ''}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(projectId && { 'X-Stet-Project': String(projectId.value) }),
    },
    open: new Map(),
    version: undefined,
    send: (message) => ctx.io.out(`${JSON.stringify(message)}\n`, 'json'),
    log: (line) => ctx.io.err(`${line}\n`),
  }
}

/** Splits at line feeds only. JSON may contain the other line ends of JavaScript. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

function parseMessage(text: string): Json | undefined {
  try {
    const message: unknown = JSON.parse(text)
    return isJsonObject(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Sends a message and passes on its answer. A request gets exactly one answer, also if the network fails. */
async function pass(bridge: Bridge, message: Json): Promise<void> {
  const { id, method, params } = message
  if (method === 'notifications/cancelled') {
    // Closing the response is what stops the work. The server ignores this notification.
    bridge.open.get(JSON.stringify(isJsonObject(params) ? params['requestId'] : undefined))?.abort()
    return
  }
  const key = JSON.stringify(id)
  const controller = new AbortController()
  if (id !== undefined) bridge.open.set(key, controller)
  let isAnswered = id === undefined
  const onMessage = (answer: Json): void => {
    if (JSON.stringify(answer['id']) === key && !('method' in answer)) isAnswered = true
    if (method === 'initialize' && isJsonObject(answer['result']))
      bridge.version = textOf(answer['result']['protocolVersion'])
    bridge.send(answer)
  }
  let failure = 'The connection was cut off'
  try {
    failure = (await exchange(bridge, message, { signal: controller.signal, onMessage })) ?? failure
  } catch (error) {
    if (error instanceof Error) failure = `Cannot reach ${bridge.url}: ${textOf(Object(error).code) ?? error.message}`
  } finally {
    if (bridge.open.get(key) === controller) bridge.open.delete(key)
  }
  if (isAnswered || controller.signal.aborted) return
  bridge.log(failure)
  bridge.send({ jsonrpc: '2.0', id, error: { code: internalError, message: failure } })
}

interface Exchange {
  signal: AbortSignal
  onMessage(message: Json): void
}

/** Returns why there is no JSON-RPC message in the response. */
async function exchange(bridge: Bridge, message: Json, { signal, onMessage }: Exchange): Promise<string | undefined> {
  const headers = { ...bridge.headers, ...protocolHeaders(bridge, message) }
  const response = await post(bridge.url, JSON.stringify(message), { headers, signal })
  if (response.headers['content-type']?.startsWith('text/event-stream')) {
    let data = ''
    for await (const line of linesOf(response)) {
      const text = line.replace(/\r$/, '')
      if (text.startsWith('data:')) data += text.slice(5)
      if (text !== '') continue
      const event = parseMessage(data)
      if (event) onMessage(event)
      data = ''
    }
    return undefined
  }
  const { statusCode = 0, statusMessage = '' } = response
  const body = parseMessage(await textIn(response))
  if (body?.['jsonrpc'] === '2.0') onMessage({ ...body, id: body['id'] ?? message['id'] ?? null })
  else if (statusCode >= 300) return `${statusCode} ${textOf(body?.['message']) ?? statusMessage}`
  return undefined
}

/** Not with `fetch`, which gives up a response after 300 s without a byte. A run may take longer, and shows nothing meanwhile. */
async function post(url: string, body: string, options: RequestOptions): Promise<IncomingMessage> {
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http')
  const sent = request(url, { ...options, method: 'POST' })
  // The response has the same error, if it has begun.
  sent.on('error', () => undefined)
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

/** The server compares these headers with the message. */
function protocolHeaders({ version }: Bridge, { method, params }: Json): Record<string, string> {
  const given = isJsonObject(params) ? params : {}
  const meta = isJsonObject(given['_meta']) ? given['_meta'] : {}
  const own = textOf(meta['io.modelcontextprotocol/protocolVersion'])
  if (own === undefined) return version === undefined ? {} : { 'MCP-Protocol-Version': version }
  const name = textOf(given['name']) ?? textOf(given['uri'])
  return {
    'MCP-Protocol-Version': own,
    'Mcp-Method': String(method),
    ...(name !== undefined && { 'Mcp-Name': asHeader(name) }),
  }
}

function asHeader(name: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith('=?base64?')
  return isPlain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
