import { describe, expect, it, vi } from 'vitest'
import {
  type RunStream,
  type SdkEventData,
  Stet,
  type StetOptions,
  type StreamEvent,
  StreamInterruptedError,
} from '../src/index.ts'
import { events, json, localServer, openEvents } from './support/local-server.ts'
import { BEHAVIOURS, type Behaviour, runServer } from './support/run-server.ts'
import { frames, result, runEvents, SOURCE, USAGE, UUID } from './support/sample-run.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

forbidUnhandledRejections()

const QUICK = { initialDelay: 1 }
const client = (url: string, o: StetOptions = {}) =>
  new Stet({ apiKey: 'k', baseUrl: url, projectId: 7, logLevel: 'off', streaming: { resume: QUICK }, ...o })

const RUN = runEvents(['Hel', 'lo ', 'wörld'])
const behaviours = Object.keys(BEHAVIOURS) as Behaviour[]
/** Cuts before each event, in the middle of each event, and after the last one. */
const places = [...RUN.flatMap((_, index) => [index, index + 0.5]), RUN.length]
/** Pairs of cuts: a few on every change, each pair before a release. */
const stride = process.env['STET_TEST_LONG'] === '1' ? 1 : 5
const pairs = RUN.flatMap((_, first) => RUN.flatMap((__, second) => (second < first ? [] : [[first, second]])))

const starting = json({ message: 'starting' }, 503, { 'Retry-After-Ms': '1' })

async function watch(stream: RunStream) {
  const seen: StreamEvent[] = []
  let text = ''
  stream
    .on('event', (event) => seen.push(event))
    .on('text', (delta) => {
      text += delta
    })
  const iterated: StreamEvent[] = []
  for await (const event of stream) iterated.push(event)
  return { seen, iterated, text, result: await stream.finalResult() }
}

async function expectUndisturbed(stream: RunStream, firstId = 1) {
  const { seen, iterated, text, result: final } = await watch(stream)
  expect(seen.map(({ event, data }) => [event, data])).toEqual(RUN)
  expect(iterated).toEqual(seen)
  expect(text).toBe('Hello wörld')
  expect(final).toEqual(result('Hello wörld'))
  const ids = seen.map(({ id }) => id).filter((id) => id !== '')
  expect(ids).toEqual(ids.map((_, index) => String(firstId + index)))
  expect(stream.state).toBe('finished')
}

describe.each(behaviours)('a server that %s', (behaviour) => {
  it('a cut changes nothing, wherever it occurs', async () => {
    for (const cut of places) {
      const server = await runServer({ behaviour, cuts: [cut] })
      await expectUndisturbed(client(server.url).prompts.stream('a'))
      expect(server.attaches(), `cut at ${cut}`).toHaveLength(cut === RUN.length ? 0 : 1)
      expect(server.stops()).toEqual([])
    }
  })

  it('two cuts in one run change nothing, nor does one in a chat', async () => {
    for (const cuts of pairs.filter((_, index) => index % stride === 0)) {
      const server = await runServer({ behaviour, cuts })
      await expectUndisturbed(client(server.url).prompts.stream('a'))
      expect(server.attaches(), `cuts at ${cuts}`).toHaveLength(2)
    }
    for (const cut of places.filter((_, index) => index % stride === 0)) {
      const server = await runServer({ behaviour, cuts: [cut], firstId: 41 })
      await expectUndisturbed(client(server.url).prompts.chatStream(UUID, 'And then?'), 41)
    }
  })

  it('an attach that breaks before its head is retried', async () => {
    const server = await runServer({ behaviour, cuts: [3, 'before the head', 'before the head', 6] })
    await expectUndisturbed(client(server.url).prompts.stream('a'))
    expect(server.attaches()).toHaveLength(4)
  })
})

describe('resuming', () => {
  it('sends the last event id, keeps the headers of the call, and emits an event', async () => {
    const server = await runServer({ behaviour: 'honours the id', cuts: [0, 4] })
    const heard: SdkEventData[] = []
    const states: string[] = []
    const stream = client(server.url).prompts.stream('a', { headers: { 'X-Own': '1' } })
    stream.on('sdk', (event) => {
      heard.push(event)
      states.push(stream.state)
    })
    await stream.finalResult()
    const asked = server
      .attaches()
      .map(({ url, body, headers }) => [url, body, headers['last-event-id'], headers['x-own']])
    const url = `/api/v3/conversations/${UUID}/attach`
    expect(asked).toEqual([
      [url, { stream: true }, undefined, '1'],
      [url, { stream: true }, '4', '1'],
    ])
    expect(heard).toEqual([
      { type: 'reconnecting', attempt: 1, delayMs: expect.any(Number), cause: expect.any(String) },
      { type: 'reconnected', fromEventId: undefined },
      { type: 'reconnecting', attempt: 1, delayMs: expect.any(Number), cause: expect.any(String) },
      { type: 'reconnected', fromEventId: '4' },
    ])
    expect(states[0]).toBe('reconnecting')
    expect(stream.requestId).toBe('req_0')
  })

  it('gives up after maxAttempts attempts without a new event', async () => {
    const dead = Array.from({ length: 9 }, () => 5)
    const server = await runServer({ behaviour: 'replays all with ids', cuts: dead })
    const stream = client(server.url).prompts.stream('a', { resume: { ...QUICK, maxAttempts: 2 } })
    const error = await stream.finalResult().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(error).toMatchObject({ conversationUuid: UUID, lastEventId: '5', partial: { text: 'Hel' } })
    expect(server.attaches()).toHaveLength(2)
    // The run continues without its reader, because another caller may use it.
    expect(server.stops()).toEqual([])
  })

  it('every new event resets the attempts', async () => {
    const server = await runServer({ behaviour: 'honours the id', cuts: RUN.map((_, index) => index) })
    await expectUndisturbed(client(server.url).prompts.stream('a', { resume: { ...QUICK, maxAttempts: 1 } }))
    expect(server.attaches()).toHaveLength(RUN.length)
  })

  it('ends if the server does not have the conversation', async () => {
    const { url, requests } = await localServer(
      events(frames(RUN.slice(0, 5))),
      json({ name: 'NotFoundError', message: 'Conversation not found', errorCode: 'x', details: {} }, 404),
    )
    const error = await client(url)
      .prompts.run('a')
      .catch((e: unknown) => e)
    expect(error).toBeInstanceOf(StreamInterruptedError)
    expect(String(error)).toContain('Conversation not found')
    expect(error).toMatchObject({ cause: { status: 404 }, partial: { text: 'Hel' } })
    expect(requests).toHaveLength(2)
  })

  it('survives a starting server and waits as requested', async () => {
    const starting = json({ name: 'ServiceUnavailableError', message: 'starting' }, 503, { 'retry-after-ms': '7' })
    const { url } = await localServer(events(frames(RUN.slice(0, 5))), starting, starting, events(frames(RUN)))
    const delays: number[] = []
    const stream = client(url).prompts.stream('a')
    stream.on('sdk', (event) => event.type === 'reconnecting' && delays.push(event.delayMs))
    expect(await stream.finalText()).toBe('Hello wörld')
    expect(delays.slice(1)).toEqual([7, 7])
  })

  it('silence counts as a cut', async () => {
    const { url, requests } = await localServer(openEvents(frames(RUN.slice(0, 5))), events(frames(RUN)))
    const stream = client(url).prompts.stream('a', { idleTimeout: 200 })
    await expectUndisturbed(stream)
    expect(requests[1]?.headers['last-event-id']).toBe('5')
  })

  it('events that are not JSON count as a cut', async () => {
    const broken = `${frames(RUN.slice(0, 5))}event: provider-event\ndata: {"type"\nid: 6\n\n`
    const { url } = await localServer(events(broken), events(frames(RUN)))
    await expectUndisturbed(client(url).prompts.stream('a'))
  })

  it('a failed run ends with its error after a cut', async () => {
    const error = {
      name: 'DocumentRunError',
      message: 'no',
      errorCode: 'ai_run_error',
      code: 'ai_run_error',
      details: {},
    }
    const data = { type: 'chain-error', uuid: UUID, messages: [], timestamp: 1, providerLogUuid: '', source: SOURCE }
    const failed = [
      ...RUN.slice(0, 5),
      ['latitude-event', { ...data, error, tokenUsage: USAGE, cost: 0 }],
    ] as typeof RUN
    const server = await runServer({ events: failed, behaviour: 'replays all without ids', cuts: [5] })
    await expect(client(server.url).prompts.run('a')).rejects.toMatchObject({
      name: 'RunError',
      errorCode: 'ai_run_error',
    })
  })

  it('a background stream resumes too', async () => {
    const server = await localServer(
      json({ uuid: UUID }),
      events(frames(RUN.slice(0, 5))),
      events(frames(RUN.slice(5)).replaceAll(/id: (\d+)/g, (_, id) => `id: ${Number(id) + 5}`)),
    )
    await expectUndisturbed(client(server.url).prompts.stream('a', { background: true }))
  })

  it('a background run is read even if its first reader cannot reach the server', async () => {
    const server = await localServer(json({ uuid: UUID }), starting, starting, events(frames(RUN)))
    await expectUndisturbed(client(server.url).prompts.stream('a', { background: true }))
  })

  it('an attach continues after the given event', async () => {
    const server = await runServer({ behaviour: 'replays all with ids', cuts: [8] })
    const stream = client(server.url).runs.attachStream(UUID, { lastEventId: '3', runUuid: 'earlier' })
    expect(stream.lastEventId).toBe('3')
    const seen: string[] = []
    for await (const { id } of stream) seen.push(id)
    expect(seen).toEqual(RUN.slice(3).map((_, index) => String(index + 4)))
    expect(server.attaches().map(({ headers }) => headers['last-event-id'])).toEqual(['3', '8'])
    expect(server.attaches().map(({ body }) => body)).toEqual([1, 2].map(() => ({ stream: true, runUuid: 'earlier' })))
  })

  it('does not happen without a conversation uuid', async () => {
    const { url, requests } = await localServer(
      events('event: provider-event\ndata: {"type":"start-step","step":1}\n\n'),
    )
    await expect(client(url).prompts.run('a')).rejects.toBeInstanceOf(StreamInterruptedError)
    expect(requests).toHaveLength(1)
  })
})

describe('attaching after the last event', () => {
  const last = String(RUN.length)

  it.each([last, '999'])('after event %s returns the result of the ended run, and no event', async (lastEventId) => {
    for (const behaviour of ['honours the id', 'replays all with ids'] as const) {
      const server = await runServer({ behaviour, cuts: [] })
      const stream = client(server.url).runs.attachStream(UUID, { lastEventId, resume: false })
      const heard: SdkEventData[] = []
      stream.on('sdk', (event) => heard.push(event))
      const { seen, iterated, text, result: final } = await watch(stream)
      expect([seen, iterated, heard, text]).toEqual([[], [], [], ''])
      expect(final).toEqual(result('Hello wörld'))
      expect(stream.lastEventId).toBe(lastEventId)
      const asked = server.attaches().map(({ headers }) => headers['last-event-id'])
      expect(asked).toEqual(behaviour === 'honours the id' ? [lastEventId, undefined] : [lastEventId])
    }
  })

  it('a failed run rejects with its error', async () => {
    const error = { name: 'DocumentRunError', message: 'no', errorCode: 'x', code: 'ai_run_error', details: {} }
    const data = { type: 'chain-error', uuid: UUID, messages: [], timestamp: 1, providerLogUuid: '', source: SOURCE }
    const failed = [['latitude-event', { ...data, error, tokenUsage: USAGE, cost: 0 }]] as typeof RUN
    const server = await runServer({ events: failed, behaviour: 'honours the id', cuts: [] })
    await expect(client(server.url).runs.attach(UUID, { lastEventId: '1' })).rejects.toMatchObject({
      name: 'RunError',
      errorCode: 'ai_run_error',
    })
  })

  it('a stream that closed too early continues, even if the server is just starting', async () => {
    const starting = json({ name: 'ServiceUnavailableError', message: 'starting' }, 503)
    const closed = events('', { headers: { 'X-Conversation-Uuid': UUID } })
    const { url, requests } = await localServer(closed, starting, events(frames(RUN)))
    const stream = client(url).runs.attachStream(UUID, { lastEventId: '3' })
    const { seen } = await watch(stream)
    expect(seen.map(({ id }) => id)).toEqual(RUN.slice(3).map((_, index) => String(index + 4)))
    expect(requests).toHaveLength(3)
  })
})

describe('leaving while the stream is disconnected', () => {
  it.each(['abort', 'detach'] as const)('%s() ends the wait', async (leave) => {
    const server = await runServer({ behaviour: 'honours the id', cuts: [5] })
    const stream = client(server.url).prompts.stream('a', { resume: { initialDelay: 1e6, maxDelay: 1e6 } })
    await vi.waitFor(() => expect(stream.state).toBe('reconnecting'), 120_000)
    await stream[leave]()
    await stream.abort()
    await expect(stream.finalResult()).rejects.toMatchObject({ name: 'AbortError', detached: leave === 'detach' })
    expect(server.stops()).toHaveLength(leave === 'abort' ? 1 : 0)
    expect(server.attaches()).toEqual([])
  })

  it('abort() during an attach stops the run once', async () => {
    const { url, requests } = await localServer((response, request) => {
      if (request.url.endsWith('/run')) return events(frames(RUN.slice(0, 5)))(response, request)
      if (request.url.endsWith('/stop')) return json({})(response, request)
    })
    const stream = client(url).prompts.stream('a')
    await vi.waitFor(() => expect(requests).toHaveLength(2), 120_000)
    await stream.abort()
    await expect(stream.finalText()).rejects.toMatchObject({ name: 'AbortError' })
    expect(requests.filter((request) => request.url.endsWith('/stop'))).toHaveLength(1)
  })
})
