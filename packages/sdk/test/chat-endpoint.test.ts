/** The chat endpoint of docs/sdk/frontends.md, between a page and a stet server. */
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { RunChatTransport } from '../src/ai/index.ts'
import { deferred } from '../src/deferred.ts'
import { importBlock } from './support/docs-blocks.ts'
import { json, type Recorded } from './support/local-server.ts'
import { frame, runEvents, UUID } from './support/sample-run.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

forbidUnhandledRejections()

const RUN = runEvents(['Hel', 'lo ', 'wörld'])
const HALF = 6

/** A stet server with one run, which waits in the middle until `go` is called. */
let upstream: { requests: Recorded[]; go: () => void; closed: Promise<unknown> }
let answer: (response: ServerResponse, request: Recorded) => Promise<void>
let address: string

beforeAll(async () => {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url = '', headers } = request
    await answer(response, { method, url, headers, body: text === '' ? undefined : JSON.parse(text) })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  vi.stubEnv('STET_BASE_URL', address)
  vi.stubEnv('STET_API_KEY', 'k')
  vi.stubEnv('STET_PROJECT_ID', '7')
  return () => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  }
})

beforeEach(() => {
  const gate = deferred<void>()
  const closed = deferred<void>()
  upstream = { requests: [], go: gate.resolve, closed: closed.promise }
  answer = async (response, request) => {
    upstream.requests.push(request)
    const { url, headers } = request
    if (url.endsWith('/stop')) return json({ stopped: true, status: 'stopped' })(response, request)
    if (url.endsWith(`/conversations/${UUID}`)) return json({ uuid: UUID, customIdentifier: 'ana' })(response, request)
    response.on('close', () => closed.resolve())
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Conversation-Uuid': UUID, 'X-Request-Id': 'r' })
    for (const [index, [event, data]] of RUN.entries()) {
      if (index + 1 <= Number(headers['last-event-id'] ?? 0)) continue
      if (index === HALF) await gate.promise
      response.write(frame(event, data, index + 1))
    }
    response.end()
  }
})

const sent = (path: string) => upstream.requests.filter(({ url }) => url.endsWith(path))

interface Door {
  /** Calls a route of the application. */
  call: (path: string, init: RequestInit) => Promise<Response>
  close: () => void
}

const doors: Record<string, () => Promise<Door>> = {
  async Express() {
    const { app } = await importBlock<{ app: RequestListener }>('frontends.md', 'chat.express.ts')
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return {
      call: (path, init) => fetch(url + path, init),
      close: () => server.close() && server.closeAllConnections(),
    }
  },
  async Hono() {
    const { app } = await importBlock<{ app: { fetch(r: Request): Promise<Response> } }>('frontends.md', 'chat.hono.ts')
    return { call: async (path, init) => app.fetch(new Request(`http://page.test${path}`, init)), close() {} }
  },
  async Next() {
    const { POST } = await importBlock<{ POST(r: Request): Promise<Response> }>('frontends.md', 'route.ts')
    const { attach, stop } = await importBlock<Record<string, (r: Request) => Promise<Response>>>(
      'frontends.md',
      'chat.ts',
    )
    const routes: Record<string, ((r: Request) => Promise<Response>) | undefined> = {
      '/api/chat': POST,
      '/api/chat/attach': attach,
      '/api/chat/stop': stop,
    }
    return {
      call: async (path, init) =>
        routes[path]?.(new Request(`http://page.test${path}`, init)) ?? new Response(null, { status: 404 }),
      close() {},
    }
  },
}

describe.each(Object.keys(doors))('in %s', (name) => {
  let door: Door
  beforeEach(async () => {
    door = (await doors[name]?.()) as Door
    vi.stubGlobal('fetch', globalThis.fetch)
  })
  afterEach(() => {
    door.close()
    vi.unstubAllGlobals()
  })
  const ana = { 'Content-Type': 'application/json', 'X-User': 'ana' }
  const post = (path: string, body: object, more: RequestInit = {}) =>
    door.call(path, { method: 'POST', body: JSON.stringify(body), headers: ana, ...more })

  it('starts a conversation with the message of the user, and continues it', async () => {
    upstream.go()
    const first = await post('/api/chat', { text: 'Hi' })
    expect(await first.text()).toContain('wörld')
    expect(first.headers.get('x-conversation-uuid')).toBe(UUID)
    expect(sent('/documents/run')[0]?.body).toMatchObject({
      path: 'support/chat',
      messages: [{ role: 'user', content: 'Hi' }],
      customIdentifier: 'ana',
    })
    const next = await post('/api/chat', { text: 'And?', conversationUuid: UUID })
    expect(await next.text()).toContain('wörld')
    expect(sent('/chat')[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'And?' }] })
  })

  it('leaves the run active when the tab closes, and continues after the last event', async () => {
    const tab = new AbortController()
    const response = await post('/api/chat', { text: 'Hi' }, { signal: tab.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    tab.abort()
    await reader?.cancel().catch(() => {})
    await upstream.closed
    upstream.go()
    const rest = await post(
      '/api/chat/attach',
      { conversationUuid: UUID },
      { headers: { ...ana, 'Last-Event-ID': '6' } },
    )
    const text = await rest.text()
    expect(text).toMatch(/^event: [\w-]+\ndata: .*\nid: 7\n/)
    expect(sent('/attach')[0]?.headers['last-event-id']).toBe('6')
    expect(sent('/stop')).toEqual([])
  })

  it('stops a run only on request, and serves only the user who started it', async () => {
    for (const path of ['/api/chat', '/api/chat/attach', '/api/chat/stop']) {
      const other = { headers: { ...ana, 'X-User': 'ben' } }
      expect((await post(path, { text: 'x', conversationUuid: UUID }, other)).status).toBe(404)
    }
    expect(sent('/stop')).toEqual([])
    expect(await (await post('/api/chat/stop', { conversationUuid: UUID })).json()).toMatchObject({ stopped: true })
    expect(sent('/stop')).toHaveLength(1)
  })

  it.each([
    [422, 502],
    [409, 409],
  ])('tells the page nothing about a refused run but that it was busy (%i)', async (status, shown) => {
    answer = async (response, request) =>
      json({ name: 'X', message: 'secret', errorCode: 'x', details: {} }, status, { 'X-Request-Id': 'r' })(
        response,
        request,
      )
    const refused = await post('/api/chat', { text: 'Hi' })
    expect([refused.status, await refused.text()]).toEqual([shown, expect.not.stringContaining('secret')])
  })
})

describe('RunChatTransport', () => {
  let door: Door
  const entries = new Map<string, string>()
  const storage = {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
  }
  const page = (): ChatTransport<UIMessage> => new RunChatTransport({ storage, headers: { 'X-User': 'ana' } })
  let cutAfter = Number.POSITIVE_INFINITY
  beforeEach(async () => {
    entries.clear()
    door = (await doors['Express']?.()) as Door
    const { fetch: real } = globalThis
    vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
      if (!url.startsWith('/')) return real(url, init)
      const response = await door.call(url, init)
      if (!Number.isFinite(cutAfter)) return response
      const limit = cutAfter
      cutAfter = Number.POSITIVE_INFINITY
      return cut(response, limit)
    })
  })
  afterEach(() => {
    door.close()
    vi.unstubAllGlobals()
  })

  const said: UIMessage[] = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
  const send = (transport: ChatTransport<UIMessage>, messages = said, abortSignal?: AbortSignal) =>
    transport.sendMessages({ trigger: 'submit-message', chatId: 'c', messageId: undefined, messages, abortSignal })
  const read = async (stream: ReadableStream<UIMessageChunk>) => {
    let message: UIMessage | undefined
    for await (const next of readUIMessageStream({ stream, terminateOnError: true })) message = next
    return message
  }
  const textOf = (message: UIMessage | undefined) =>
    message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

  it('sends the new message, and the conversation of the earlier ones', async () => {
    upstream.go()
    const message = (await read(await send(page()))) as UIMessage
    expect([textOf(message), message.metadata]).toEqual([
      'Hello wörld',
      expect.objectContaining({ conversationUuid: UUID }),
    ])
    const more: UIMessage[] = [...said, message, { id: 'n', role: 'user', parts: [{ type: 'text', text: 'And?' }] }]
    expect(textOf(await read(await send(page(), more)))).toBe('Hello wörld')
    expect(sent('/chat')[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'And?' }] })
    expect(entries.size).toBe(0)
  })

  it('resumes a broken connection where it broke', async () => {
    upstream.go()
    cutAfter = 1200
    expect(textOf(await read(await send(page())))).toBe('Hello wörld')
    expect(sent('/attach')).toHaveLength(1)
    expect(Number(sent('/attach')[0]?.headers['last-event-id'])).toBeGreaterThan(0)
  })

  it('a reloaded page attaches to its run, and finds none after its end', async () => {
    const before = await send(page())
    await before.cancel()
    await vi.waitFor(() => expect(entries.size).toBe(1))
    const stream = await page().reconnectToStream({ chatId: 'c' })
    upstream.go()
    expect(textOf(await read(stream as ReadableStream<UIMessageChunk>))).toBe('Hello wörld')
    expect(await page().reconnectToStream({ chatId: 'c' })).toBeNull()
    expect(await page().reconnectToStream({ chatId: 'other' })).toBeNull()
  })

  it('a stop by the person stops the run', async () => {
    const controller = new AbortController()
    const stream = await send(page(), said, controller.signal)
    const reader = stream.getReader()
    await reader.read()
    controller.abort()
    await vi.waitFor(() => expect(sent('/stop')).toHaveLength(1))
    await reader.cancel()
    upstream.go()
    expect(entries.size).toBe(0)
  })
})

/** The response breaks off after so many bytes. */
function cut(response: Response, limit: number): Response {
  let left = limit
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left))
        left -= chunk.length
        if (left <= 0) controller.error(new TypeError('terminated'))
      },
    }),
  )
  return new Response(body ?? null, response)
}
