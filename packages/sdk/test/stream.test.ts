import { describe, expect, it } from 'vitest'
import { RunStream, Stet, type StetOptions, type StreamEvent, StreamInterruptedError } from '../src/index.ts'
import { cutEvents, events, json, localServer, openEvents } from './support/local-server.ts'
import { frame, frames, result, runEvents, UUID } from './support/sample-run.ts'

const DELTAS = ['Grüß', ' dich ', '👋🏽', '!']
const RUN = frames(runEvents(DELTAS))

const client = (url: string, o: StetOptions = {}) =>
  new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off', ...o })

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

describe('parsing', () => {
  it.each([1, 7, 4096])('%i-byte chunks produce the same events', async (chunkBytes) => {
    const { url, requests } = await localServer(events(RUN, { chunkBytes }))
    const stream = client(url).prompts.stream('a', { parameters: { n: 1 } })
    const seen = await collect(stream)
    expect(seen.map(({ event, data }) => [event, data])).toEqual(runEvents(DELTAS))
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, i) => String(i + 1)))
    expect(await stream.finalResult()).toEqual(result('Grüß dich 👋🏽!'))
    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: '/api/v3/projects/7/versions/live/documents/run',
      body: { path: 'a', parameters: { n: 1 }, stream: true },
      headers: { accept: 'text/event-stream' },
    })
  })

  const odd = 'data\n x: y\ndatabase: {\ndata:\nevent : x\nidea: 9\n'
  const commented = `\ufeff: ping\n\nretry: 5\nnothing\n\n${RUN}`.replaceAll('data: {', 'data:{')
  it.each([
    ...['\r\n', '\r', '\n'].map((end) => [`line endings ${JSON.stringify(end)}`, commented.replaceAll('\n', end)]),
    ['half and similar field names', RUN.replaceAll('data: {', `${odd}data: {`)],
    ['several data lines', RUN.replaceAll('data: {', 'data: {\ndata: ')],
  ])('%s: the events are the same', async (_, text = '') => {
    // A line ending of two characters may be cut in the middle.
    for (const chunkBytes of text.includes('\r\n') ? [1, 4096] : [7]) {
      const { url } = await localServer(events(text, { chunkBytes }))
      const seen = await collect(client(url).prompts.stream('a'))
      expect(seen.map(({ event, data }) => [event, data])).toEqual(runEvents(DELTAS))
      expect(seen.map(({ id }) => id)).toEqual(seen.map((_, i) => String(i + 1)))
    }
  })

  it('unknown event names reach only the listeners', async () => {
    const { url } = await localServer(events(frame('news', { type: 'x' }, 0) + RUN))
    const stream = client(url).prompts.stream('a')
    const heard: string[] = []
    stream.on('event', ({ event }) => heard.push(event))
    const iterated = await collect(stream)
    expect(heard).toEqual(['news', ...iterated.map(({ event }) => event)])
    expect(iterated).toHaveLength(runEvents(DELTAS).length)
  })

  it('forwards unknown types', async () => {
    const { url } = await localServer(events(frame('provider-event', { type: 'novel', a: 1 }, 0) + RUN))
    const [first] = await collect<StreamEvent>(client(url).prompts.stream('a'))
    expect(first).toMatchObject({ type: 'novel', data: { a: 1 } })
  })

  it('ignores data after the end of the run', async () => {
    const { url } = await localServer(events(`${RUN}event: provider-event\ndata: nonsense\n\n`))
    await expect(client(url).prompts.stream('a').finalText()).resolves.toBe('Grüß dich 👋🏽!')
  })
})

describe('interruptions without resume', () => {
  const firstDeltas = frames(runEvents(DELTAS).slice(0, 6))

  it.each([
    ['a closed body', events(firstDeltas)],
    ['a cut socket', cutEvents(firstDeltas)],
    ['data that is not JSON', events(`${firstDeltas}event: provider-event\ndata: {"type"\n\n`)],
    ['data that is not an object', events(`${firstDeltas}event: latitude-event\ndata: 5\n\n`)],
    ['a last frame without its blank line', events(RUN.trimEnd())],
  ])('%s before the end of the run is a StreamInterruptedError', async (_, reply) => {
    const { url, requests } = await localServer(reply)
    const stream = client(url).prompts.stream('a', { resume: false })
    const error = await stream.finalResult().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(error).toMatchObject({ conversationUuid: UUID, lastEventId: stream.lastEventId })
    expect((error as StreamInterruptedError).partial.text).toMatch(/^Grüß dich /)
    expect(stream.state).toBe('errored')
    expect(requests).toHaveLength(1)
  })

  it('silence is a StreamInterruptedError; comments reset the timer', async () => {
    let beats = 0
    const { url } = await localServer((response, request) => {
      openEvents(firstDeltas)(response, request)
      const beat = setInterval(() => {
        response.write(': ping\n\n')
        if (++beats === 40) clearInterval(beat)
      }, 20)
    })
    const error = await client(url, { streaming: { idleTimeout: 400, resume: false } })
      .prompts.stream('a')
      .finalResult()
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(String(error)).toContain('400 ms')
    expect(beats).toBe(40)
  })

  it('a run that completes without a response is a StreamInterruptedError', async () => {
    const silent = runEvents([])
      .filter(([, data]) => data.type !== 'provider-completed')
      .map(([event, data]): [string, typeof data] => [event, { ...data, response: undefined }])
    const { url } = await localServer(events(frames(silent)))
    await expect(client(url).prompts.run('a')).rejects.toBeInstanceOf(StreamInterruptedError)
  })
})

describe('before the head', () => {
  it('an error response rejects every view with the error of its status', async () => {
    const { url } = await localServer(json({ name: 'NotFoundError', message: 'Document not found', details: {} }, 404))
    const stream = client(url).prompts.stream('a')
    const views = [
      stream.finalResult(),
      stream.finalText(),
      stream.started(),
      stream.withResponse(),
      collect(stream),
      stream.usage,
    ]
    const refused = { name: 'NotFoundError', status: 404 }
    await Promise.all(views.map((view) => expect(view).rejects.toMatchObject(refused)))
  })
})

describe('chat', () => {
  it('sends a string as one user message', async () => {
    const { url, requests } = await localServer(events(RUN))
    const stet = client(url)
    expect((await stet.prompts.chat(UUID, 'And you?')).uuid).toBe(UUID)
    expect(await stet.conversations.chatStream(UUID, [{ role: 'user', content: 'x' }]).finalText()).toBe(
      'Grüß dich 👋🏽!',
    )
    expect(requests[0]).toMatchObject({
      url: `/api/v3/conversations/${UUID}/chat`,
      body: { messages: [{ role: 'user', content: 'And you?' }], stream: true },
    })
  })
})

describe('run', () => {
  it('returns the same result over either transport', async () => {
    const { url, requests } = await localServer(events(RUN), json(result('Grüß dich 👋🏽!')))
    const finished: unknown[] = []
    const onFinished = (r: unknown) => finished.push(r)
    const streamed = await client(url).prompts.run('a', { onFinished })
    const plain = await client(url).prompts.run('a', { stream: false, onFinished })
    expect(plain).toEqual(streamed)
    expect(finished).toEqual([streamed, plain])
    expect(requests.map(({ body }) => body)).toEqual([
      { path: 'a', stream: true },
      { path: 'a', stream: false },
    ])
  })

  it('a streamed run has response headers but no readable body', async () => {
    const { url } = await localServer(events(RUN))
    const call = client(url).prompts.run('a')
    expect(await call.withResponse()).toMatchObject({ requestId: 'req_1', data: { uuid: UUID } })
    await expect(call.asResponse()).rejects.toThrow(/stream\(…\)\.withResponse/)
  })

  it('iterating an awaited result throws a clear error', async () => {
    const { url } = await localServer(events(RUN))
    const awaited: unknown = await client(url).prompts.run('a')
    await expect(collect(awaited as AsyncIterable<unknown>)).rejects.toThrow('run() was awaited; use prompts.stream()')
    expect(Object.keys(awaited as object)).toEqual(Object.keys(result('')))
  })
})

it('a proxied stream with `expose: true` is identical on the other side', async () => {
  const { url } = await localServer(events(RUN))
  const { stream } = await client(url).prompts.stream('a').withResponse()
  const passed = stream.toResponse({ status: 201, headers: { 'X-Own': '1' }, expose: true })
  expect(passed.status).toBe(201)
  expect(passed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(passed.headers.get('x-own')).toBe('1')
  const copy = passed.clone()
  const behind = RunStream.fromResponse(passed)
  expect(await collect(behind)).toEqual(await collect(stream))
  expect(await behind.finalResult()).toEqual(await stream.finalResult())
  expect(await copy.text()).toBe(RUN)
})
