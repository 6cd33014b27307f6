import { getEventListeners } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AbortError, RunError, type RunStream, Stet, type StetOptions } from '../src/index.ts'
import { collectGarbage } from './support/garbage.ts'
import { events, json, localServer, openEvents, type Reply } from './support/local-server.ts'
import { failedRunEvents, frame, frames, runEvents, UUID } from './support/sample-run.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

const RUN = frames(runEvents(['Hel', 'lo']))
const FAILED = frames(failedRunEvents(['Hel']))
const BEGUN = frames(runEvents(['Hel', 'lo']).slice(0, 5))

const client = (url: string, o: StetOptions = {}) =>
  new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off', ...o })

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

// Use a separate function, because a suspended one could keep values alive.
async function pass(reader: AsyncIterator<object>, count: number): Promise<WeakRef<object>[]> {
  const passed: WeakRef<object>[] = []
  while (passed.length < count) passed.push(new WeakRef((await reader.next()).value))
  return passed
}

forbidUnhandledRejections()

describe('readers', () => {
  it('several concurrent readers and a late one all receive every event', async () => {
    const { url } = await localServer(events(RUN, { chunkBytes: 64 }))
    const stream = client(url).prompts.stream('a')
    const [first, second, text, final] = await Promise.all([
      collect(stream),
      collect(stream),
      collect(stream.textStream),
      stream.finalText(),
    ])
    expect(first).toEqual(second)
    expect(text).toEqual(['Hel', 'lo'])
    expect(final).toBe('Hello')
    expect(await collect(stream)).toEqual(first)
    expect(stream).toMatchObject({ state: 'finished', text: 'Hello', conversationUuid: UUID, requestId: 'req_1' })
    expect(stream.conversation).toHaveLength(2)
  })

  it('leaving a loop ends only that reader, and the run continues', async () => {
    const { url } = await localServer(events(RUN, { chunkBytes: 64 }))
    const stream = client(url).prompts.stream('a')
    for await (const event of stream) if (event.type === 'text-delta') break
    for await (const text of stream.textStream) if (text !== '') break
    await expect(stream.finalText()).resolves.toBe('Hello')
  })

  it('concurrent next() calls receive one event each, in order, and then the end', async () => {
    const { url } = await localServer(events(RUN, { chunkBytes: 64 }))
    const reader = client(url).prompts.stream('a')[Symbol.asyncIterator]()
    const ids = runEvents(['Hel', 'lo']).map((_, at) => String(at + 1))
    const read = await Promise.all([...ids, 'end', 'end'].map(() => reader.next()))
    expect(read.map(({ done, value }) => (done ? 'end' : value.id))).toEqual([...ids, 'end', 'end'])
  })

  it('a pending next() resolves when its reader leaves', async () => {
    const { url } = await localServer(openEvents(BEGUN))
    const reader = client(url).prompts.stream('a', { bufferEvents: false })[Symbol.asyncIterator]()
    for (let event = 0; event < 5; event++) await reader.next()
    const waiting = reader.next()
    await reader.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })

  it('a released stream retains no event that its readers have passed', async () => {
    const { url } = await localServer(openEvents(BEGUN))
    const reader = client(url).prompts.stream('a', { resume: false })[Symbol.asyncIterator]()
    const passed = await pass(reader, 5)
    await vi.waitFor(() => {
      collectGarbage()
      expect(passed.filter((event) => event.deref())).toEqual([])
    }, 120_000)
    await reader.return?.()
  })

  it('bufferEvents: false stores no events, only the state', async () => {
    const { url } = await localServer(events(RUN, { chunkBytes: 64 }))
    const stream = client(url).prompts.stream('a', { bufferEvents: false })
    const early = collect(stream)
    await stream.finalResult()
    expect(await early).toHaveLength(runEvents(['Hel', 'lo']).length)
    expect(await collect(stream)).toEqual([])
    expect(stream.text).toBe('Hello')
  })

  it('usage and tool calls are derived from the result', async () => {
    const { url } = await localServer(events(RUN))
    const stream = client(url).prompts.stream('a')
    expect(await stream.started()).toBe(UUID)
    expect(await stream.usage).toMatchObject({ totalTokens: 5 })
    expect(await stream.finishReason).toBe('stop')
    expect(await stream.toolCalls).toEqual([])
    await expect(stream.finalObject()).rejects.toThrow(/schema/)
  })

  it('partial objects grow', async () => {
    const object = { urgency: 'high', tags: ['a', 'b'] }
    const deltas = ['{"urg', 'ency":"hi', 'gh","tags":["a"', ',"b"]', '}']
    const { url } = await localServer(events(frames(runEvents(deltas, { object }))))
    const stream = client(url).prompts.stream<{ urgency: string; tags: string[] }>('a')
    expect(await collect(stream.objectStream)).toEqual([
      {},
      { urgency: 'hi' },
      { urgency: 'high', tags: ['a'] },
      object,
    ])
    expect((await stream.finalObject()).tags).toEqual(['a', 'b'])
  })
})

it('an unread proxied stream has no timer once its run has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { url } = await localServer(events(RUN))
  const stream = client(url).prompts.stream('a')
  stream.toReadableStream()
  await stream.finalResult()
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0), 120_000)
})

it('a proxied stream sends a ping during silence, and never queues more than one', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { url } = await localServer(openEvents(BEGUN))
  const stream = client(url).prompts.stream('a')
  const reader = stream.toReadableStream().getReader()
  for (let event = 0; event < 5; event++) await reader.read()
  await new Promise(setImmediate)
  vi.advanceTimersByTime(60_000)
  const decoder = new TextDecoder()
  expect(decoder.decode((await reader.read()).value)).toBe(': ping\n')
  const next = reader.read()
  stream.detach()
  await expect(next).rejects.toBeInstanceOf(AbortError)
  expect(vi.getTimerCount()).toBe(0)
})

describe('a failed run', () => {
  const viewsOf = (stream: RunStream) => [
    stream.finalResult(),
    stream.finalText(),
    stream.finalObject(),
    stream.usage,
    collect(stream),
    collect(stream.textStream),
  ]

  it('rejects every view with the same RunError, after its event', async () => {
    const { url } = await localServer(events(FAILED))
    const onError = vi.fn()
    const stream = client(url).prompts.stream('a', { onError })
    const seen: string[] = []
    const loop = async () => {
      for await (const { type } of stream) seen.push(type)
    }
    const errors = await Promise.all([loop(), ...viewsOf(stream)].map((view) => view.catch((e: unknown) => e)))
    expect(errors[0]).toBeInstanceOf(RunError)
    expect(new Set(errors).size).toBe(1)
    expect(onError.mock.calls).toEqual([[errors[0]]])
    expect(errors[0]).toMatchObject({
      status: 422,
      errorCode: 'ai_run_error',
      conversationUuid: UUID,
      requestId: 'req_1',
      partial: { text: 'Hel', conversation: stream.conversation },
    })
    expect(seen.at(-1)).toBe('chain-error')
    await expect(stream.finalText()).rejects.toBe(errors[0])
  })

  it('leaves no unhandled rejection in unused views', async () => {
    const { url } = await localServer(json({ name: 'NotFoundError', message: 'm' }, 404))
    const stream = client(url).prompts.stream('a')
    void [stream.withResponse(), stream.started(), stream.usage, stream.finalText(), stream.finalObject()]
    await expect(stream.finalResult()).rejects.toMatchObject({ status: 404 })
  })

  it('warns once with the conversation if unhandled, and never if handled', async () => {
    const { url } = await localServer(events(FAILED))
    const warn = vi.fn()
    const stet = client(url, { logger: { error: warn, warn, info: warn, debug: warn }, logLevel: 'warn' })
    await expect(stet.prompts.run('a')).rejects.toBeInstanceOf(RunError)
    const heard = new Promise((resolve) => stet.prompts.stream('a').on('error', resolve))
    await expect(heard).resolves.toBeInstanceOf(RunError)
    const stream = stet.prompts.stream('a')
    await vi.waitFor(() => expect(warn).toHaveBeenCalled(), 120_000)
    expect(warn.mock.calls).toEqual([[expect.stringContaining(UUID)]])
    expect(stream.state).toBe('errored')
  })

  it('is forwarded by a proxy as its event', async () => {
    const { url } = await localServer(events(FAILED))
    expect(await client(url).prompts.stream('a').toResponse({ expose: true }).text()).toBe(FAILED)
  })

  it('a cut stream breaks the proxied one', async () => {
    const { url } = await localServer(events(BEGUN))
    await expect(client(url).prompts.stream('a', { resume: false }).toResponse().text()).rejects.toThrow()
  })
})

describe('listeners', () => {
  it('run in event order and can be removed', async () => {
    const calls = frame('provider-event', { type: 'tool-call', toolCallId: 't1', toolName: 'find', args: { q: 1 } }, 0)
    const thought = frame('provider-event', { type: 'reasoning-delta', id: 'r', text: 'hm' }, 0)
    const { url } = await localServer(events(calls + thought + RUN, { headers: { 'X-Conversation-Uuid': UUID } }))
    const log: unknown[] = []
    const removed = () => log.push('removed')
    const stream = client(url)
      .prompts.stream('a', { onToolCall: (c) => log.push(c), onFinished: (r) => log.push(r.response.text) })
      .on('text', (delta, snapshot) => log.push([delta, snapshot]))
      .once('text', (delta) => log.push(`once ${delta}`))
      .on('reasoning', (text) => log.push(text))
      .on('started', (uuid) => log.push(uuid))
      .on('end', () => log.push('end'))
      .on('text', removed)
      .off('text', removed)
    await stream.finalResult()
    expect(log).toEqual([
      UUID,
      { id: 't1', name: 'find', arguments: { q: 1 } },
      'hm',
      ['Hel', 'Hel'],
      'once Hel',
      ['lo', 'Hello'],
      'Hello',
      'end',
    ])
  })

  it('an exception in one rejects the stream with it and closes the stream', async () => {
    let closed = 0
    const { url } = await localServer(openEvents(BEGUN, { onClose: () => closed++ }))
    const mine = new Error('mine')
    const onText = () => {
      throw mine
    }
    await expect(client(url).prompts.run('a', { onText })).rejects.toBe(mine)
    await vi.waitFor(() => expect(closed).toBe(1), 120_000)
  })

  it('an exception in onFinished rejects, and one in onError does not hide the error', async () => {
    const { url } = await localServer(events(RUN), events(FAILED))
    const mine = new Error('mine')
    const fail = () => {
      throw mine
    }
    await expect(client(url).prompts.run('a', { onFinished: fail })).rejects.toBe(mine)
    await expect(client(url).prompts.run('a', { onError: fail })).rejects.toBeInstanceOf(RunError)
  })

  it('hooks receive every event', async () => {
    const { url } = await localServer(events(RUN))
    const onStreamEvent = vi.fn()
    await client(url, { hooks: { onStreamEvent } }).prompts.run('a')
    expect(onStreamEvent).toHaveBeenCalledTimes(runEvents(['Hel', 'lo']).length)
    expect(onStreamEvent.mock.calls[0]?.[1]).toEqual({ conversationUuid: UUID, path: 'a' })
  })
})

describe('abort', () => {
  const open = async (body = BEGUN) => {
    let closed = 0
    const stopped = json({ uuid: UUID, stopped: true, status: 'stopped' })
    const server = await localServer(openEvents(body, { onClose: () => closed++ }), stopped)
    return { ...server, isClosed: () => vi.waitFor(() => expect(closed).toBe(1), 120_000) }
  }

  it.each<[string, (stream: RunStream) => unknown]>([
    ['abort()', (stream) => stream.abort()],
    ['controller.abort()', (stream) => stream.controller.abort()],
    ['leaving its scope', (stream) => stream[Symbol.asyncDispose]()],
  ])('%s closes the socket, rejects every view and stops the run', async (_, abort) => {
    const { url, requests, isClosed } = await open()
    const stream = client(url).prompts.stream('a')
    const views = [stream.finalResult(), collect(stream), collect(stream.textStream)].map((view) =>
      view.catch((e: unknown) => e),
    )
    await vi.waitFor(() => expect(stream.text).toBe('Hel'), 120_000)
    await abort(stream)
    for (const view of views) {
      const error = await view
      expect(error).toBeInstanceOf(AbortError)
      expect(error).toMatchObject({ conversationUuid: UUID, detached: false, name: 'AbortError' })
    }
    expect(stream.state).toBe('aborted')
    await isClosed()
    await abort(stream)
    // When abort() resolves, the server has responded. A second abort() sends nothing.
    await stream.abort()
    expect(requests).toHaveLength(2)
    expect(requests[1]).toMatchObject({ method: 'POST', url: `/api/v3/conversations/${UUID}/stop` })
  })

  it.each(['stop', 'detach'] as const)('works through the signal of the call (%s)', async (onAbort) => {
    const { url, requests, isClosed } = await open()
    const controller = new AbortController()
    const stream = client(url).prompts.stream('a', { signal: controller.signal, onAbort })
    await stream.started()
    controller.abort()
    await expect(stream.finalResult()).rejects.toMatchObject({ name: 'AbortError', detached: onAbort === 'detach' })
    await isClosed()
    if (onAbort === 'detach') expect(requests).toHaveLength(1)
  })

  it('leaves no listener on a signal that outlives its calls', async () => {
    const { url } = await localServer(events(RUN))
    const { signal } = new AbortController()
    await client(url).prompts.run('a', { signal })
    await client(url)
      .prompts.get('a', { signal, maxRetries: 0 })
      .catch(() => {})
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('before the head cancels the request', async () => {
    let closed = 0
    const { url, requests } = await localServer((response) => void response.on('close', () => closed++))
    const stream = client(url).prompts.stream('a')
    await vi.waitFor(() => expect(requests).toHaveLength(1), 120_000)
    await stream.abort()
    await expect(stream.started()).rejects.toMatchObject({ name: 'AbortError' })
    await vi.waitFor(() => expect(closed).toBe(1), 120_000)
  })

  it('sends nothing if it happens before the request', async () => {
    const { url, requests } = await open()
    const stream = client(url).prompts.stream('a', { signal: AbortSignal.abort() })
    await expect(stream.finalResult()).rejects.toBeInstanceOf(AbortError)
    const other = client(url).prompts.stream('a')
    void other.abort()
    await expect(other.finalResult()).rejects.toBeInstanceOf(AbortError)
    expect(requests).toHaveLength(0)
  })

  it.each(['stop', 'detach'] as const)('works for a JSON call with a known conversation (%s)', async (onAbort) => {
    const { url, requests } = await localServer(() => {}, json({ uuid: UUID, stopped: true, status: 'stopped' }))
    const controller = new AbortController()
    const chat = client(url).prompts.chat(UUID, 'And then?', { stream: false, signal: controller.signal, onAbort })
    chat.catch(() => {})
    await vi.waitFor(() => expect(requests).toHaveLength(1), 120_000)
    controller.abort()
    const detached = onAbort === 'detach'
    await expect(chat).rejects.toMatchObject({ name: 'AbortError', conversationUuid: UUID, detached })
    const again = client(url).runs.attach(UUID, { stream: false, signal: controller.signal })
    await expect(again).rejects.toBeInstanceOf(AbortError)
    const stop = `/api/v3/conversations/${UUID}/stop`
    if (!detached) await vi.waitFor(() => expect(requests[1]?.url).toBe(stop), 120_000)
    expect(requests).toHaveLength(detached ? 1 : 2)
  })

  const refused = json({ message: 'slow down' }, 429, { 'Retry-After': '60' })
  const cut: Reply = (response) => void response.destroy()
  it.each<[string, Reply[], number, string[]]>([
    ['that was refused and waits', [refused], 1, ['chat']],
    ['whose refused attempt came after a lost one', [cut, refused], 2, ['chat', 'chat', 'stop']],
    ['that waits after a lost attempt', [cut], 1, ['chat', 'stop']],
    ['that waits after a gateway gave up', [json({ message: 'late' }, 504)], 1, ['chat', 'stop']],
  ])('of a JSON call %s stops only a run that it may have started', async (_, replies, failures, expected) => {
    const { url } = await localServer(...replies)
    const controller = new AbortController()
    const asked: string[] = []
    const counted: typeof fetch = (input, init) => {
      asked.push(String(input).split('/').at(-1) ?? '')
      return fetch(input, init)
    }
    let failed = 0
    const onError = () => void (++failed === failures && controller.abort())
    const stet = client(url, { fetch: counted, hooks: { onError } })
    const chat = stet.prompts.chat(UUID, 'And then?', { stream: false, signal: controller.signal })
    await expect(chat).rejects.toMatchObject({ name: 'AbortError', conversationUuid: UUID, detached: false })
    // The stop request is sent immediately, but may still be pending.
    await new Promise(setImmediate)
    expect(asked).toEqual(expected)
  })

  it('detach() closes the stream, returns the uuid and sets `detached`', async () => {
    const { url, isClosed } = await open()
    const stream = client(url).prompts.stream('a')
    await stream.started()
    expect(stream.detach()).toBe(UUID)
    await expect(stream.finalResult()).rejects.toMatchObject({ name: 'AbortError', detached: true })
    expect(stream.state).toBe('detached')
    await isClosed()
  })

  it('has no effect after the end', async () => {
    const { url } = await localServer(events(RUN))
    const stream = client(url).prompts.stream('a')
    await stream.finalResult()
    await stream.abort()
    stream.controller.abort()
    expect(stream.state).toBe('finished')
    await expect(stream.finalText()).resolves.toBe('Hello')
  })
})
