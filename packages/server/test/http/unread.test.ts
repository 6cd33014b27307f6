import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { UnreadBudget, type UnreadSettings } from '../../src/http/rate-limit/unread-budget.ts'
import { writeBody } from '../../src/http/raw-response.ts'
import { httpCall } from './api-call.ts'
import { type Listening, listening } from './listening.ts'
import { createTestProject, issueKey, openServer } from './scenario.ts'

const body = Buffer.alloc(20_000_000, 'x')
const never = 1_000_000_000

/** Returns 20 MB, as an event stream for `/events`. */
async function limited(settings: UnreadSettings): Promise<Listening & { asked(): number }> {
  let asked = 0
  const unread = new UnreadBudget(settings)
  const serve: RequestListener = (req, res) => {
    asked += 1
    unread.enter(res)
    res.on('close', () => unread.leave(res))
    res.setHeader('Content-Type', req.url === '/events' ? 'text/event-stream; charset=utf-8' : 'text/plain')
    writeBody(res, body)
  }
  const server = await listening(serve)
  onTestFinished(() => server.close())
  return Object.assign(server, { asked: () => asked })
}

function ask(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1').pause()
  socket.on('error', () => undefined)
  socket.write(text)
  onTestFinished(() => void socket.destroy())
  return socket
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const connections = ({ server }: Listening) =>
  new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))

it('closes a client that reads nothing after the stall time, but not a slow one or an event stream', async () => {
  // By a clock that moves with the slow client: a slow machine could leave it too few turns within a real stall time.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const stallMs = 60_000
  const server = await limited({ stallMs, mostBytes: never })
  const slow = ask(server.port, get('/'))
  for (const path of ['/', '/events']) ask(server.port, get(path))
  await expect.poll(server.asked).toBe(3)
  let goOn: () => void = () => undefined
  for (const event of ['readable', 'close']) slow.on(event, () => goOn())
  let read = 0
  while (read < body.length && !slow.destroyed) {
    const { length = 0 } = (slow.read() as Buffer | null) ?? {}
    read += length
    vi.advanceTimersByTime((length / body.length) * 3 * stallMs)
    if (length === 0) await new Promise<void>((resolve) => (goOn = resolve))
  }
  expect(read).toBeGreaterThan(body.length)
  await expect.poll(() => connections(server)).toBe(2)
})

it('limits the total bytes of unread responses by closing stalled ones', async () => {
  const server = await limited({ stallMs: never, mostBytes: 3 * body.length })
  for (let opened = 0; opened < 8; opened += 1) ask(server.port, get('/'))
  await expect.poll(server.asked).toBe(8)
  // The system's socket buffers hold a part of each.
  await expect.poll(() => connections(server)).toBeLessThan(5)
  const left = await connections(server)
  expect(left).toBeGreaterThan(1)
})

it('answers the requests of a connection one after the other', async () => {
  let [open, most] = [0, 0]
  const server = await listening((req, res) => {
    open += 1
    most = Math.max(most, open)
    setImmediate(() => {
      open -= 1
      res.end(req.url)
    })
  })
  onTestFinished(() => server.close())
  const paths = Array.from({ length: 80 }, (_, place) => `/${place}`)
  const socket = ask(server.port, paths.map(get).join(''))
  let text = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  socket.resume()
  await expect.poll(() => [...text.matchAll(/\r\n\r\n(\/\d+)/g)].map(([, path]) => path)).toEqual(paths)
  expect(most).toBe(1)
})

it('closes connections beyond the limit immediately', async () => {
  const server = await listening((_req, res) => void res.end('ok'), { maxConnections: 2 })
  onTestFinished(() => server.close())
  for (let opened = 0; opened < 2; opened += 1) ask(server.port, '')
  await expect.poll(() => connections(server)).toBe(2)
  const third = connect(server.port, '127.0.0.1').resume()
  await new Promise((resolve) => third.on('error', () => undefined).on('close', resolve))
  expect(await connections(server)).toBe(2)
})

it('closes an unread conversation response after STET_STALL_SECONDS and keeps serving others', async () => {
  const { server, api } = await openServer({ STET_STALL_SECONDS: '1' })
  onTestFinished(() => server.close())
  type Created = { project: { id: number }; version: { uuid: string } }
  const { body: project } = await api<Created>('POST', '/projects', { body: { name: 'unread' } })
  const version = `/projects/${project.project.id}/versions/${project.version.uuid}`
  await api('POST', `${version}/documents`, { body: { path: 'a', prompt: 'Hi' } })
  const message = { role: 'user', content: 'x'.repeat(4_100_000) }
  const log = await api('POST', `${version}/documents/logs`, { body: { path: 'a', messages: [message] } })
  expect(log.status, log.text.slice(0, 300)).toBe(200)
  const request = (path: string) =>
    `GET /api/v3${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.adminKey}\r\n\r\n`
  const path = `/conversations/${String(log.body['uuid'])}`
  // Several requests, so that the system's buffers cannot hold all responses.
  const socket = ask(Number(new URL(server.url).port), request(path).repeat(6))
  // Writing to a closed socket raises an error, so it reveals the close.
  await expect
    .poll(() => {
      if (!socket.destroyed) socket.write(' ')
      return socket.destroyed
    })
    .toBe(true)
  // The closed response no longer counts toward the key's reads.
  expect((await api('GET', path)).text).toContain(message.content)
})

it('lets reads of the other doors wait for room too', async () => {
  // A key has no room for a second read while one of 3.5 MB is open, but all together fit, so none is closed.
  const { server, api } = await openServer({ STET_UNREAD_BYTES: '23000000' })
  onTestFinished(() => server.close())
  const project = await createTestProject(api, { echo: '---\nprovider: demo\n---\n<user>Hi</user>' })
  const keyed = { scopes: ['read', 'run'], projectId: project.id, plan: 'custom', limit: 100_000 }
  const [key, other] = [await issueKey(api, keyed), await issueKey(api, keyed)]
  const call = (method: string, path: string, body?: unknown, as = key) =>
    httpCall(method, `${server.url}${path}`, {
      headers: { authorization: `Bearer ${as}`, accept: 'application/json, text/event-stream' },
      ...(body !== undefined && { body }),
    })
  const created = await call('POST', '/v1/responses', { model: 'echo', input: 'x'.repeat(3_500_000) })
  const conversation = String(Object(created.body['stet'])['conversationUuid'])
  const request = `GET /api/v3/conversations/${conversation} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
  const unread = ask(Number(new URL(server.url).port), request.repeat(8))
  await new Promise((resolve) => unread.once('readable', resolve))
  // Each read of the other key takes longer than the system's buffers take to fill. It has its own half of the room.
  const readsOfOther = async (count: number) => {
    for (let at = 0; at < count; at += 1)
      expect((await call('GET', `/v1/responses/${String(created.body['id'])}`, undefined, other)).status).toBe(200)
  }
  await readsOfOther(3)
  const mcp = (method: string, params: object = {}) => call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params })
  const answered: string[] = []
  const reads = Object.entries({
    get: () => call('GET', `/v1/responses/${String(created.body['id'])}`),
    cancel: () => call('POST', `/v1/responses/${String(created.body['id'])}/cancel`),
    stream: () => call('GET', `/v1/responses/${String(created.body['id'])}?stream=true`),
    'prompts/list': () => mcp('prompts/list'),
    'resources/list': () => mcp('resources/list'),
    'tools/list': () => mcp('tools/list'),
    stet_list_prompts: () => mcp('tools/call', { name: 'stet_list_prompts' }),
    stet_diff: () => mcp('tools/call', { name: 'stet_diff', arguments: { head: 'live' } }),
  }).map(async ([name, read]) => {
    const { status } = await read()
    answered.push(name)
    expect([name, status]).toEqual([name, 200])
  })
  await readsOfOther(1)
  expect(answered).toEqual([])
  unread.destroy()
  await Promise.all(reads)
})

it('shares the bytes of the reference among all unread responses', async () => {
  const { server } = await openServer({ STET_UNREAD_BYTES: String(never) })
  onTestFinished(() => server.close())
  const path = '/docs/reference.js'
  const { headers } = await fetch(`${server.url}${path}`)
  const size = Number(headers.get('content-length'))
  expect(size).toBeGreaterThan(1_000_000)
  const { arrayBuffers: before } = process.memoryUsage()
  const text = `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n`.repeat(8)
  const sockets = Array.from({ length: 60 }, () => ask(Number(new URL(server.url).port), text))
  // Each client has a first part of its responses, and reads no further.
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('readable', resolve))))
  const added = process.memoryUsage().arrayBuffers - before
  expect(added).toBeLessThan((sockets.length * 8 * size) / 10)
})

describe('budget of large responses', () => {
  const settings = { stallMs: never, mostBytes: 33_554_432 }
  const reserved = 8_388_608
  const responses = (budget: UnreadBudget, count: number) =>
    Array.from({ length: count }, () => {
      const res = new ServerResponse(new IncomingMessage(new Socket()))
      budget.enter(res)
      return res
    })
  /** Reserves in order. `begun` collects the indexes of granted reservations. */
  function reserveAll(budget: UnreadBudget, all: readonly ServerResponse[], keyOf: (place: number) => number) {
    const begun: number[] = []
    const ends = all.map((res, place) => budget.reserve(res, keyOf(place)).then(() => begun.push(place)))
    // A test may end while some reads still wait. They are rejected later.
    for (const end of ends) end.catch(() => undefined)
    return { begun, ends }
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))

  it('grants one key at most half of the budget, and queues its further reads', async () => {
    const budget = new UnreadBudget(settings)
    const all = responses(budget, 6)
    const { begun } = reserveAll(budget, all, (place) => (place < 4 ? 1 : 2))
    await settled()
    expect(begun).toEqual([0, 1, 4, 5])
    budget.leave(all[1] as ServerResponse)
    await settled()
    expect(begun).toEqual([0, 1, 4, 5, 2])
  })

  it('releases the unused part for a small body, and counts a large body completely', async () => {
    const budget = new UnreadBudget(settings)
    const all = responses(budget, 4)
    const { begun } = reserveAll(budget, all, () => 1)
    await settled()
    budget.hold(all[0] as ServerResponse, 0)
    await settled()
    expect(begun).toEqual([0, 1, 2])
    budget.hold(all[1] as ServerResponse, 3 * reserved)
    budget.leave(all[2] as ServerResponse)
    await settled()
    expect(begun).toEqual([0, 1, 2])
    budget.leave(all[1] as ServerResponse)
    await settled()
    expect(begun).toEqual([0, 1, 2, 3])
  })

  it('rejects with 503 if no room becomes free, and removes waiting clients that disconnect', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const budget = new UnreadBudget(settings)
    const all = responses(budget, 4)
    const { begun, ends } = reserveAll(budget, all, () => 1)
    all[2]?.emit('close')
    await expect(ends[2]).rejects.toMatchObject({ code: 'ServiceUnavailableError' })
    vi.advanceTimersByTime(10_000)
    await expect(ends[3]).rejects.toMatchObject({ code: 'ServiceUnavailableError' })
    expect(begun).toEqual([0, 1])
  })
})
