import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../src/deferred.ts'
import {
  ConfigurationError,
  type SdkEventData,
  type StandardSchema,
  Stet,
  type StetOptions,
  ToolExecutionError,
  tool,
} from '../src/index.ts'
import { createMockStet } from '../src/testing/index.ts'
import { events, json, localServer, openEvents, type Reply } from './support/local-server.ts'
import { BEHAVIOURS, type Behaviour, runServer } from './support/run-server.ts'
import { frames, result, runEvents, UUID } from './support/sample-run.ts'
import { endingWith, jsonEndingWith, waitingRun } from './support/tool-run.ts'
import { forbidUnhandledRejections } from './support/unhandled.ts'

forbidUnhandledRejections()

const client = (url: string, o: StetOptions = {}) =>
  new Stet({
    apiKey: 'k',
    baseUrl: url,
    projectId: 7,
    logLevel: 'off',
    streaming: { resume: { initialDelay: 1 } },
    ...o,
  })

const city: StandardSchema<unknown, { city: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const { city } = value as { city?: unknown }
      if (typeof city === 'string') return { value: { city: city.trim() } }
      return { issues: [{ message: 'must be text\nand more', path: ['place', { key: 'city' }] }] }
    },
  },
}
const rome = { id: 'call_1', name: 'get_weather', arguments: { city: ' Rome ' } }
const oslo = { id: 'call_2', name: 'get_weather', arguments: { city: 'Oslo' } }
const faulty = { id: 'call_3', name: 'get_weather', arguments: { city: 5 } }
// Every object has a property with this name.
const other = { id: 'call_4', name: 'toString', arguments: {} }

describe('inline', () => {
  it('sends the tool names, posts each result while the stream is open, and emits an event', async () => {
    const { events: run, waitsAt } = waitingRun([rome, oslo])
    const server = await runServer({ events: run, waitsAt, behaviour: 'honours the id', cuts: [] })
    const told: SdkEventData[] = []
    const contexts: unknown[] = []
    const stream = client(server.url).prompts.stream('a', {
      headers: { 'X-Tenant': 't' },
      tools: {
        get_weather: tool({
          input: city,
          execute: ({ city }, { pauseExecution, signal, ...context }) => {
            contexts.push({ ...context, state: stream.state })
            return { sky: city === 'Rome' ? 'blue' : 'grey' }
          },
        }),
        unused: undefined,
      },
    })
    stream.on('sdk', (event) => told.push(event))
    expect(await stream.finalText()).toBe('Sunny.')
    expect(server.requests[0]?.body).toEqual({ path: 'a', stream: true, tools: ['get_weather'] })
    // The results use separate connections, so they may arrive in either order.
    expect(server.results).toHaveLength(2)
    expect(server.results).toEqual(
      expect.arrayContaining([
        { toolCallId: 'call_1', result: { sky: 'blue' }, isError: false },
        { toolCallId: 'call_2', result: { sky: 'grey' }, isError: false },
      ]),
    )
    // A gateway accepts the results only with the headers of the run.
    expect(server.requests.map(({ headers }) => headers['x-tenant'])).toEqual(['t', 't', 't'])
    const conversation = { conversationUuid: UUID, messages: expect.any(Array), state: 'tools' }
    expect(contexts).toEqual([
      { ...rome, ...conversation },
      { ...oslo, ...conversation },
    ])
    const finished = { isError: false, durationMs: expect.any(Number) }
    for (const [call, result] of [
      [rome, { sky: 'blue' }],
      [oslo, { sky: 'grey' }],
    ]) {
      expect(told.filter((event) => 'call' in event && event.call.id === (call as typeof rome).id)).toEqual([
        { type: 'tool-started', call },
        { type: 'tool-finished', call, result, ...finished },
      ])
    }
  })

  it('a chat sends the tool names too', async () => {
    const { events: run, waitsAt } = waitingRun([rome])
    const server = await runServer({ events: run, waitsAt, behaviour: 'honours the id', cuts: [] })
    const tools = { get_weather: () => 'blue' }
    expect((await client(server.url).prompts.chat(UUID, 'Rome?', { tools })).response.text).toBe('Sunny.')
    expect(server.requests[0]?.body).toMatchObject({ tools: ['get_weather'], stream: true })
  })

  const reports: [string, object, unknown][] = [
    ['arguments that do not fit', faulty, 'Invalid arguments: place.city: must be text'],
    ['an exception', { ...rome, arguments: { city: 'throw' } }, 'The weather service is down'],
    ['a rejection that is no error', { ...rome, arguments: { city: 'reject' } }, 'no service'],
    ['the end of its time', { ...rome, arguments: { city: 'hang' } }, 'get_weather returned no result within 30 ms'],
    ['a result that is not JSON', { ...rome, arguments: { city: 'cycle' } }, expect.stringMatching(/circular|cyclic/i)],
  ]
  it.each(reports)('reports %s to the model in one line', async (_, call, line) => {
    const { events: run, waitsAt } = waitingRun([call as typeof rome])
    const server = await runServer({ events: run, waitsAt, behaviour: 'honours the id', cuts: [] })
    let signal: AbortSignal | undefined
    const execute = async ({ city }: { city: string }, ctx: { signal: AbortSignal }) => {
      signal = ctx.signal
      if (city === 'throw') throw new Error('The weather service is down\n    at /home/me/secret.ts:1')
      if (city === 'reject') return Promise.reject('no service')
      if (city === 'hang') return new Promise(() => {})
      const cycle: { self?: unknown } = {}
      cycle.self = cycle
      return cycle
    }
    const get_weather = tool({ input: city, execute, timeout: 30 })
    expect((await client(server.url).prompts.run('a', { tools: { get_weather } })).response.text).toBe('Sunny.')
    expect(server.results).toEqual([{ toolCallId: expect.any(String), result: line, isError: true }])
    if (line === reports[3]?.[2]) expect(signal?.aborted).toBe(true)
  })

  it('a tool that returns nothing sends null', async () => {
    const { events: run, waitsAt } = waitingRun([rome])
    const server = await runServer({ events: run, waitsAt, behaviour: 'honours the id', cuts: [] })
    await client(server.url).prompts.run('a', { tools: { get_weather: () => undefined } })
    expect(server.results).toEqual([{ toolCallId: 'call_1', result: null, isError: false }])
  })

  it('a result that the server rejects becomes an error result', async () => {
    const { events: run, waitsAt } = waitingRun([rome])
    const server = await runServer({ events: run, waitsAt, behaviour: 'honours the id', cuts: [], refusals: 1 })
    expect((await client(server.url).prompts.run('a', { tools: { get_weather: () => 'x' } })).response.text).toBe(
      'Sunny.',
    )
    expect(server.results).toEqual([
      { toolCallId: 'call_1', result: 'x', isError: false },
      { toolCallId: 'call_1', result: expect.stringMatching(/^The result was refused: 413/), isError: true },
    ])
  })

  it('calls without a handler are ignored', async () => {
    const { events: run } = waitingRun([other])
    const server = await runServer({ events: run, behaviour: 'honours the id', cuts: [] })
    expect((await client(server.url).prompts.run('a', { tools: { get_weather: () => 1 } })).response.text).toBe(
      'Sunny.',
    )
    expect(server.results).toEqual([])
  })

  const stopping: [string, object][] = [
    [
      'a handler that throws ToolExecutionError',
      { get_weather: () => Promise.reject(new ToolExecutionError('broken')) },
    ],
    ['arguments that must fit', { get_weather: tool({ input: city, execute: () => 1, onInvalidArgs: 'throw' }) }],
  ]
  it.each(stopping)('%s stops the run and rejects', async (_, tools) => {
    const server = await runServer({ ...waitingRun([faulty]), behaviour: 'honours the id', cuts: [] })
    const stream = client(server.url).prompts.stream('a', { tools: tools as Record<string, never> })
    const error = await stream.finalResult().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ToolExecutionError)
    expect(error).toMatchObject({ name: 'ToolExecutionError', call: faulty })
    expect(stream.state).toBe('errored')
    await vi.waitFor(() => expect(server.stops()).toHaveLength(1), 120_000)
    expect(server.results).toEqual([])
  })

  it('a result that cannot be sent stops the run and rejects', async () => {
    const { events: run, waitsAt } = waitingRun([rome])
    const { url, requests } = await localServer((response, request) => {
      if (request.url.endsWith('/run')) return openEvents(frames(run.slice(0, waitsAt)))(response, request)
      if (request.url.endsWith('/results'))
        return json({ name: 'ForbiddenError', message: 'no' }, 403)(response, request)
      return json({})(response, request)
    })
    await expect(client(url).prompts.run('a', { tools: { get_weather: () => 1 } })).rejects.toMatchObject({
      status: 403,
    })
    await vi.waitFor(() => expect(requests.filter((request) => request.url.endsWith('/stop'))).toHaveLength(1), 120_000)
  })

  it('abort() aborts the handler signal, stops the run once and posts nothing', async () => {
    const server = await runServer({ ...waitingRun([rome]), behaviour: 'honours the id', cuts: [] })
    let signal: AbortSignal | undefined
    const answer = deferred<string>()
    const tools = {
      get_weather: (_: unknown, ctx: { signal: AbortSignal }) => {
        signal = ctx.signal
        return answer.promise
      },
    }
    const stream = client(server.url).prompts.stream('a', { tools, headers: { 'X-Tenant': 't' } })
    await vi.waitFor(() => expect(stream.state).toBe('tools'), 120_000)
    await stream.abort()
    answer.resolve('late')
    await expect(stream.finalResult()).rejects.toMatchObject({ name: 'AbortError' })
    expect(signal?.aborted).toBe(true)
    expect(server.stops().map(({ headers }) => headers['x-tenant'])).toEqual(['t'])
    expect(server.results).toEqual([])
  })

  it('pauseExecution() stops the run and returns its open calls', async () => {
    const { events: run, waitsAt } = waitingRun([rome, oslo])
    const server = await runServer({
      events: run,
      waitsAt,
      behaviour: 'honours the id',
      cuts: [],
      stopsWith: [rome, oslo],
    })
    const finished = vi.fn()
    const paused = await client(server.url).prompts.run('a', {
      tools: { get_weather: (_, { pauseExecution }) => pauseExecution() },
      onFinished: finished,
    })
    expect(paused).toMatchObject({
      uuid: UUID,
      toolRequests: [rome, oslo],
      response: { toolCalls: [rome, oslo], finishReason: 'tool-calls' },
      tokenUsage: { totalTokens: 5 },
    })
    expect(finished).toHaveBeenCalledOnce()
    expect(server.stops()).toHaveLength(1)
    expect(server.results).toEqual([])
  })

  it.each(Object.keys(BEHAVIOURS) as Behaviour[])(
    'no call is handled twice after a cut, by a server that %s',
    async (behaviour) => {
      const { events: run, waitsAt } = waitingRun([rome, oslo])
      for (let cut = 0; cut <= run.length; cut++) {
        const server = await runServer({ events: run, waitsAt, behaviour, cuts: [cut] })
        const handled: string[] = []
        const stream = client(server.url).prompts.stream('a', {
          tools: { get_weather: (_, { id }) => void handled.push(id) },
        })
        const seen: unknown[] = []
        for await (const { event, data } of stream) seen.push([event, data])
        expect(seen).toEqual(run)
        expect(await stream.finalText()).toBe('Sunny.')
        expect(handled).toEqual(['call_1', 'call_2'])
        expect(server.results).toHaveLength(2)
      }
    },
  )
})

describe('in turns', () => {
  const chats = (requests: { url: string; body: unknown }[]) =>
    requests.filter(({ url }) => url.endsWith('/chat')).map(({ body }) => body)

  it('a run that ends with calls continues by chat, in the same stream', async () => {
    const { url, requests } = await localServer(
      events(frames(endingWith([rome, faulty]))),
      events(frames(endingWith([oslo]), 21)),
      events(frames(runEvents(['Sun', 'ny.']), 41)),
    )
    const tools = { get_weather: tool({ input: city, execute: ({ city }) => `sky of ${city}` }) }
    const onFinished = vi.fn()
    const stream = client(url).prompts.stream('a', {
      tools,
      toolMode: 'turns',
      onFinished,
      mcpHeaders: { x: { y: 'z' } },
    })
    const ids: number[] = []
    for await (const { id } of stream) ids.push(Number(id))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(new Set(ids).size).toBe(endingWith([rome]).length * 2 + 1 + runEvents(['a', 'b']).length)
    const final = await stream.finalResult()
    expect(final.response.text).toBe('Sunny.')
    expect(final).toMatchObject({ tokenUsage: { totalTokens: 15, inputTokens: 9 }, cost: 1.5 })
    expect(onFinished.mock.calls).toEqual([[final]])
    expect(requests[0]?.body).toEqual({ path: 'a', stream: true, mcpHeaders: { x: { y: 'z' } } })
    const part = { type: 'tool-result', toolName: 'get_weather' }
    expect(chats(requests)).toEqual([
      {
        stream: true,
        mcpHeaders: { x: { y: 'z' } },
        messages: [
          {
            role: 'tool',
            content: [
              { ...part, toolCallId: 'call_1', result: 'sky of Rome' },
              { ...part, toolCallId: 'call_3', result: expect.stringMatching(/^Invalid arguments/), isError: true },
            ],
          },
        ],
      },
      {
        stream: true,
        mcpHeaders: { x: { y: 'z' } },
        messages: [{ role: 'tool', content: [{ ...part, toolCallId: 'call_2', result: 'sky of Oslo' }] }],
      },
    ])
  })

  it('returns the same result without a stream', async () => {
    const onToolCall = vi.fn()
    const { url, requests } = await localServer(json(jsonEndingWith([rome])), json(result('Sunny.')))
    const tools = { get_weather: () => 'blue' }
    const final = await client(url).prompts.run('a', { stream: false, tools, onToolCall, idempotencyKey: 'mine' })
    expect(final).toMatchObject({ response: { text: 'Sunny.' }, tokenUsage: { totalTokens: 10 }, cost: 1 })
    expect(onToolCall.mock.calls).toEqual([[rome]])
    expect(requests[0]?.body).toEqual({ path: 'a', stream: false })
    expect(chats(requests)).toEqual([{ stream: false, messages: [expect.objectContaining({ role: 'tool' })] }])
    // Each idempotency key is bound to one body.
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', 'mine-tools-1'])
  })

  it('an attach with tools answers only the calls that the run ended with', async () => {
    const shown = endingWith([rome])
    const { url, requests } = await localServer(events(frames(shown)), events(frames(runEvents(['Sunny.']), 41)))
    const get_weather = vi.fn(() => 'blue')
    expect((await client(url).runs.attach(UUID, { tools: { get_weather } })).response.text).toBe('Sunny.')
    expect(get_weather).toHaveBeenCalledOnce()
    expect(requests.map((request) => request.url.split('/').at(-1))).toEqual(['attach', 'chat'])
    expect(requests[0]?.body).toEqual({ stream: true })
  })

  it.each([true, false])(
    'the loop ends after its maximum rounds with the calls still open (stream: %s)',
    async (stream) => {
      const reply: Reply = stream ? events(frames(endingWith([rome]))) : json(jsonEndingWith([rome]))
      const { url, requests } = await localServer(reply)
      const get_weather = vi.fn(() => 'blue')
      const final = await client(url).prompts.run('a', {
        stream,
        toolMode: 'turns',
        tools: { get_weather },
        maxToolRounds: 3,
      })
      expect(final.toolRequests).toEqual([rome])
      expect(get_weather).toHaveBeenCalledTimes(3)
      expect(chats(requests)).toHaveLength(3)
    },
  )

  it.each([true, false])(
    'a round with an unhandled call returns all its calls unanswered (stream: %s)',
    async (stream) => {
      const reply: Reply = stream ? events(frames(endingWith([rome, other]))) : json(jsonEndingWith([rome, other]))
      const { url, requests } = await localServer(reply)
      const get_weather = vi.fn()
      const final = await client(url).prompts.run('a', { stream, toolMode: 'turns', tools: { get_weather } })
      expect(final.toolRequests).toEqual([rome, other])
      expect(get_weather).not.toHaveBeenCalled()
      expect(requests).toHaveLength(1)
    },
  )

  it.each([true, false])('pauseExecution() returns the open calls of its round (stream: %s)', async (stream) => {
    const reply: Reply = stream ? events(frames(endingWith([rome, oslo]))) : json(jsonEndingWith([rome, oslo]))
    const { url, requests } = await localServer(reply)
    const tools = {
      get_weather: (_: unknown, ctx: { id: string; pauseExecution(): never }) =>
        ctx.id === 'call_2' ? ctx.pauseExecution() : 1,
    }
    const final = await client(url).prompts.run('a', { stream, toolMode: 'turns', tools })
    expect(final.toolRequests).toEqual([rome, oslo])
    expect(requests).toHaveLength(1)
  })

  it.each([true, false])('a handler that throws ToolExecutionError rejects (stream: %s)', async (stream) => {
    const reply: Reply = stream ? events(frames(endingWith([rome]))) : json(jsonEndingWith([rome]))
    const { url } = await localServer(reply)
    const tools = { get_weather: () => Promise.reject(new ToolExecutionError('broken', { cause: 5 })) }
    const onError = vi.fn()
    const run = client(url).prompts.run('a', { stream, toolMode: 'turns', tools, onError })
    await expect(run).rejects.toMatchObject({ name: 'ToolExecutionError', call: rome, cause: 5 })
    expect(onError).toHaveBeenCalledOnce()
  })

  it.each([true, false])(
    'abort during a handler sends no stop, because its run has ended (stream: %s)',
    async (stream) => {
      const { url } = await localServer(stream ? events(frames(endingWith([rome]))) : json(jsonEndingWith([rome])))
      const asked: string[] = []
      const counted: typeof fetch = (input, init) => {
        // An aborted call is never sent.
        if (!init?.signal?.aborted) asked.push(String(input).split('/').at(-1) ?? '')
        return fetch(input, init)
      }
      const controller = new AbortController()
      const { signal } = controller
      const get_weather = () => {
        controller.abort()
        return new Promise(() => {})
      }
      const options = { stream, toolMode: 'turns', tools: { get_weather }, signal } as const
      const run = client(url, { fetch: counted }).prompts.run('a', options)
      await expect(run).rejects.toMatchObject({ name: 'AbortError', conversationUuid: UUID, detached: false })
      // The stop request is sent immediately, but may still be pending.
      await new Promise(setImmediate)
      expect(asked).toEqual(['run'])
    },
  )

  it('a cut in a later round is resumed', async () => {
    const second = frames(runEvents(['Sun', 'ny.']), 41)
    const { url, requests } = await localServer(
      events(frames(endingWith([rome]))),
      events(second.slice(0, second.length / 2)),
      events(second),
    )
    const stream = client(url).prompts.stream('a', { toolMode: 'turns', tools: { get_weather: () => 'blue' } })
    const ids: string[] = []
    for await (const { id } of stream) ids.push(id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(endingWith([rome]).length + runEvents(['a', 'b']).length)
    expect(await stream.finalText()).toBe('Sunny.')
    expect(requests.map((request) => request.url.split('/').at(-1))).toEqual(['run', 'chat', 'attach'])
  })

  it('a proxied stream is one run', async () => {
    const { url } = await localServer(events(frames(endingWith([rome]))), events(frames(runEvents(['Sunny.']), 41)))
    const stream = client(url).prompts.stream('a', { toolMode: 'turns', tools: { get_weather: () => 'blue' } })
    const text = await stream.toResponse().text()
    expect(text.match(/"type":"chain-completed"/g)).toHaveLength(1)
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('"type":"chain-completed"')
  })
})

it.each(['run', 'stream'] as const)('%s in the background rejects tools', async (how) => {
  const { url, requests } = await localServer(json({ uuid: UUID }))
  const options = { background: true, tools: { get_weather: () => 1 } }
  const call =
    how === 'run' ? client(url).prompts.run('a', options) : client(url).prompts.stream('a', options).finalResult()
  await expect(call).rejects.toBeInstanceOf(ConfigurationError)
  expect(requests).toEqual([])
})

describe('names', () => {
  const definition = { parameters: { type: 'object' } }
  const logger = () => {
    const warn = vi.fn()
    return { warn, o: { logLevel: 'warn' as const, logger: { error: warn, warn, info: warn, debug: warn } } }
  }
  /** The run's steps have these configurations. */
  const stepsOf = (...tools: unknown[]) => {
    const [before, after] = [runEvents(['ok']).slice(0, 2), runEvents(['ok']).slice(3)]
    const shown = tools.map((each) => [
      'latitude-event',
      { ...before[0]?.[1], type: 'provider-started', config: { model: 'm', tools: each } },
    ])
    return frames([...before, ...shown, ...after] as ReturnType<typeof runEvents>)
  }
  const said = async (tools: unknown[], handlers: string[], open: string[] = []) => {
    const { url } = await localServer(events(stepsOf(...tools)))
    const { warn, o } = logger()
    const stet = client(url, o)
    const given = Object.fromEntries([
      ...handlers.map((name) => [name, () => 1]),
      ...open.map((name) => [name, undefined]),
    ])
    // A derived client and a second call add no further warning.
    for (const each of [stet, stet, stet.project(7)]) await each.prompts.run('weather', { tools: given })
    return warn.mock.calls.map(([text]) => text)
  }
  const weather = { get_weather: definition, get_tide: definition }

  it.each([
    ['all match', [weather], ['get_weather', 'get_tide'], []],
    ['a list of maps', [[{ get_weather: definition }, { get_tide: definition }]], ['get_weather', 'get_tide'], []],
    [
      'a misspelled handler',
      [weather],
      ['get_wether', 'get_tide'],
      ['the prompt declares no tool "get_wether", did you mean "get_weather"?'],
    ],
    ['an unknown handler', [weather], ['get_weather', 'get_tide', 'zzz'], ['the prompt declares no tool "zzz"']],
    ['no declared tools', [undefined], ['zzz'], ['the prompt declares no tool "zzz"']],
    [
      'a tool of the server',
      [['get_tide', { get_weather: definition }]],
      ['get_weather', 'get_tide'],
      ['the prompt declares no tool "get_tide"'],
    ],
    [
      'a tool without a handler',
      [weather],
      ['get_weather'],
      ['no handler for the tool "get_tide", so its calls end the run'],
    ],
    [
      'tools of several steps',
      [{ get_tide: definition }, { get_weather: definition }],
      ['get_weather', 'get_tide'],
      [],
    ],
    ['a name of every object', [{ toString: definition }], ['toString'], []],
  ] as [string, unknown[], string[], string[]][])('%s', async (_, declared, handlers, expected) => {
    expect(await said(declared, handlers)).toEqual(expected.map((text) => `[stet] weather: ${text}`))
  })

  it('a handler that is undefined leaves its tool open without a warning', async () => {
    expect(await said([weather], ['get_weather'], ['get_tide'])).toEqual([])
  })

  it('a mock gives no warning', async () => {
    const { warn, o } = logger()
    await createMockStet({ weather: 'Sunny.' }, o).prompts.run('weather', { tools: { get_weather: () => 1 } })
    expect(warn).not.toHaveBeenCalled()
  })

  it('a call without tools gives no warning', async () => {
    const { url } = await localServer(events(stepsOf(weather)))
    const { warn, o } = logger()
    await client(url, o).prompts.run('weather')
    expect(warn).not.toHaveBeenCalled()
  })

  it('a JSON run warns of a call without a handler', async () => {
    const { url } = await localServer(json(jsonEndingWith([rome])))
    const { warn, o } = logger()
    await client(url, o).prompts.run('weather', { stream: false, tools: { get_wether: () => 1 } })
    expect(warn.mock.calls).toEqual([
      ['[stet] weather: no handler for the tool "get_weather", so its calls end the run'],
    ])
  })
})
