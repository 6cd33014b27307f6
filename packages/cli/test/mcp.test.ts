import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

/** Well-formed, and of no server. */
const key = 'stet_0000000000000000000000000000001o2Jge'

type Json = Record<string, unknown>
type Answer = (message: Json, req: IncomingMessage, res: ServerResponse) => void

async function serverThat(answer: Answer): Promise<string> {
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req
      .on('data', (chunk) => chunks.push(chunk))
      .on('end', () => {
        answer(JSON.parse(Buffer.concat(chunks).toString()), req, res)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Runs `stet mcp` on the lines. Every line that it prints must be JSON-RPC. */
async function bridge(url: string, lines: readonly unknown[], stdin = new PassThrough(), args: readonly string[] = []) {
  for (const line of lines) stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
  if (lines.length > 0) stdin.end()
  const env = { STET_API_KEY: key, STET_BASE_URL: url }
  const { stdout } = await runInProcess(['mcp', ...args], { cwd: await temporaryFolder(), env, stdin: () => stdin })
  const messages = stdout.split('\n').filter((line) => line !== '')
  return messages.map((line): Json => {
    const message = JSON.parse(line)
    expect(message.jsonrpc).toBe('2.0')
    return message
  })
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const failed = (message: string | RegExp) => [
  { jsonrpc: '2.0', id: 1, error: { code: -32603, message: expect.stringMatching(message) } },
]

it.each([401, 429, 500])('answers with an error if the server answers %s', async (status) => {
  const url = await serverThat((_message, _req, res) => {
    res.writeHead(status, { 'content-type': 'application/json' }).end('{"message":"No"}')
  })
  expect(await bridge(url, [list])).toEqual(failed(`^${status} No$`))
})

it('answers with an error if the server is down, and while a stream is cut', async () => {
  expect(await bridge('http://127.0.0.1:9', [list])).toEqual(failed(/^Cannot reach /))
  const url = await serverThat((_message, _req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\ndata: {"json', () =>
      res.destroy(),
    )
  })
  const [progress, ...rest] = await bridge(url, [list])
  expect(progress).toMatchObject({ method: 'notifications/progress' })
  expect(rest).toEqual(failed(/./))
})

it('sends the headers of the era, and one line per message', async () => {
  const seen: Json[] = []
  const url = await serverThat(({ id, method }, { headers }, res) => {
    const { authorization, 'mcp-method': named, 'mcp-name': name, 'mcp-protocol-version': version } = headers
    seen.push({ authorization, named, name, version, project: headers['x-stet-project'] })
    const result = method === 'initialize' ? { protocolVersion: '2025-06-18' } : { text: 'a\u2028b' }
    if (id === undefined) res.writeHead(202).end()
    else
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }, null, 1))
  })
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
  const messages = await bridge(
    url,
    [
      { ...list, id: 'i', method: 'initialize', params: { protocolVersion: '2025-06-18' } },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { ...list, params: { note: '\u2028' } },
      { ...list, id: 2, method: 'tools/call', params: { name: 'größe', _meta } },
      'nothing',
    ],
    undefined,
    ['--project', '7'],
  )
  expect(messages).toHaveLength(4)
  expect(messages).toContainEqual({ jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32700 }) })
  const authorization = `Bearer ${key}`
  expect(seen[0]).toEqual({ authorization, project: '7' })
  expect(seen).toContainEqual({ authorization, project: '7', version: '2025-06-18' })
  const name = `=?base64?${Buffer.from('größe').toString('base64')}?=`
  expect(seen).toContainEqual({ authorization, project: '7', named: 'tools/call', name, version: '2026-07-28' })
})

it('closes the request that a client cancels, and does not forward the notification', async () => {
  const stdin = new PassThrough()
  const methods: unknown[] = []
  const url = await serverThat(({ method }, _req, res) => {
    methods.push(method)
    res.on('close', () => stdin.end())
    stdin.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  })
  stdin.write(`${JSON.stringify(list)}\n`)
  expect(await bridge(url, [], stdin)).toEqual([])
  expect(methods).toEqual(['tools/list'])
})

it('waits for an answer longer than fetch does', async () => {
  // The first request loads the dispatcher of fetch, whose limits are then shortened.
  const url = await serverThat(({ method }, { headers }, res) => {
    if (headers['x-probe'] === '1') return
    if (method !== 'tools/call') res.end('{}')
    else
      fetch(url, { method: 'POST', body: '{}', headers: { 'x-probe': '1' } }).catch(() =>
        res.end(JSON.stringify(answer)),
      )
  })
  const answer = { jsonrpc: '2.0', id: 1, result: { text: 'late' } }
  await (await fetch(url, { method: 'POST', body: '{}' })).text()
  const shortened = shortLimits()
  onTestFinished(shortened.restore)
  expect(await bridge(url, [{ ...list, method: 'tools/call', params: { name: 'a' } }])).toEqual([answer])
})

/** Makes fetch give up responses after 50 ms without a byte, in place of 300 s. */
function shortLimits() {
  const key = Symbol.for('undici.globalDispatcher.1')
  const usual: unknown = Reflect.get(globalThis, key)
  if (!(usual instanceof Object)) throw new Error('fetch has a dispatcher once it was used')
  Reflect.set(globalThis, key, Reflect.construct(usual.constructor, [{ headersTimeout: 50, bodyTimeout: 50 }]))
  return { restore: () => void Reflect.set(globalThis, key, usual) }
}
