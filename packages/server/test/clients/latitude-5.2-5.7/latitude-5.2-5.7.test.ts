/** The published TypeScript clients 5.2 to 5.7: only the requests that differ from 5.1.0. */
import { createParser } from 'eventsource-parser'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClientBench, openClientBench, sentDuring, toolAnswers, userMessage } from '../matrix/client-bench.ts'
import { clientMatrix } from '../matrix/client-matrix.ts'
import {
  AttachErrorBody,
  AttachedResult,
  BackgroundResult,
  DeclaredEvent,
  DeletedPrompt,
  ErrorBody,
  RunResult,
  Stopped,
} from '../matrix/wire.ts'

let bench: ClientBench
beforeAll(async () => {
  bench = await openClientBench()
})
afterAll(() => bench?.close())

const api = '/api/v3'
const run = `${api}/projects/1/versions/live/documents/run`
const internal = { __internal: { source: 'api' } }
const unknown = '00000000-0000-4000-8000-000000000000'

/** Sends a request like these clients: native fetch, and a body in every POST. */
function send(method: 'POST' | 'DELETE', path: string, body?: Record<string, unknown>, version = '5.7.0') {
  return fetch(`http://127.0.0.1:${bench.front.port}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${bench.key}`,
      'Content-Type': 'application/json',
      'X-Latitude-SDK-Version': version,
    },
    ...(method === 'POST' && { body: JSON.stringify({ ...body, ...internal }) }),
  })
}

/** Reads a stream like these clients: the last provider-completed, and the last run event's uuid and messages. */
async function readStream(response: Response, onToolCall?: (id: string) => Promise<unknown>) {
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const seen: { types: string[]; uuid?: string; text?: string; messages?: unknown[] } = { types: [] }
  const calls: string[] = []
  const parser = createParser({
    onEvent({ event, data }) {
      const payload = JSON.parse(data) as { type: string; toolCallId: string }
      if (event === 'provider-event') {
        if (payload.type === 'tool-call') calls.push(payload.toolCallId)
        return
      }
      const parsed = DeclaredEvent.parse(payload)
      seen.types.push(parsed.type)
      seen.uuid = parsed.uuid
      seen.messages = parsed.messages
      if (parsed.type === 'provider-completed') seen.text = parsed.response.text
    },
  })
  const pieces = (response.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())
  for await (const piece of pieces) {
    parser.feed(piece)
    for (const id of calls.splice(0)) await onToolCall?.(id)
  }
  return seen
}

const startInBackground = async (path: string): Promise<string> => {
  const body = { path, stream: false, background: true, tools: [] }
  return BackgroundResult.parse(await (await send('POST', run, body)).json()).uuid
}

const matrix = clientMatrix('latitude-5.2-5.7', {
  client: 'TypeScript SDK (@latitude-data/sdk)',
  version: '5.2 to 5.7',
  as: 'the requests that 5.1.0 does not make or makes differently, rebuilt in the suite',
})

matrix.method('prompts.run', () => {
  test('a stream by default, with messages and headers for its tools', async () => {
    bench.provider.enqueue({ text: 'Bonjour.' })
    const body = { path: 'greet', stream: true, background: false, tools: [], parameters: { name: 'Ana' } }
    const more = { messages: [userMessage('In French.')], mcpHeaders: { weather: { authorization: 'x' } } }
    const seen = await readStream(await send('POST', run, { ...body, ...more }))
    expect(seen).toMatchObject({ text: 'Bonjour.' })
    expect(seen.messages?.[2]).toEqual(userMessage('In French.'))
    expect(seen.types.at(-1)).toBe('chain-completed')
  })

  test('as JSON', async () => {
    const answer = await send('POST', run, { path: 'greet', stream: false, background: false, tools: [] })
    RunResult.parse(await answer.json())
  })

  test('tools are answered while the stream stays open', async () => {
    bench.provider.enqueue({ toolCalls: [{ id: 'a', name: 'get_weather', arguments: {} }] }, { text: 'Sunny.' })
    const response = await send('POST', run, {
      path: 'weather',
      stream: true,
      background: false,
      tools: ['get_weather'],
    })
    const seen = await readStream(response, (toolCallId) =>
      send('POST', `${api}/tools/results`, { toolCallId, result: { sky: 'blue' } }),
    )
    expect(seen.text).toBe('Sunny.')
    expect(toolAnswers(bench)).toEqual(['{"sky":"blue"}'])
  })

  test.each(['5.2.0', '5.4.1', '5.7.0', '5.10.0'])(
    'in the background the uuid, streamed or not (%s)',
    async (version) => {
      for (const stream of [true, false]) {
        const answer = await send('POST', run, { path: 'greet', stream, background: true, tools: [] }, version)
        const { uuid } = BackgroundResult.parse(await answer.json())
        await bench.server.client.runs.attach(uuid)
      }
    },
  )

  test.each(['5.0.2', '5.1.3', '5.1.0-beta.1'])('but a stream for those before them (%s)', async (version) => {
    const answer = await send('POST', run, { path: 'greet', stream: true, background: true, tools: [] }, version)
    expect((await readStream(answer)).types.at(-1)).toBe('chain-completed')
  })
})

matrix.method('prompts.chat', () => {
  test('a stream by default', async () => {
    const { uuid } = await readStream(
      await send('POST', run, { path: 'greet', stream: true, background: false, tools: [] }),
    )
    bench.provider.enqueue({ text: 'Goodbye.' })
    const body = { messages: [userMessage('And now?')], stream: true, tools: [], mcpHeaders: {} }
    const seen = await readStream(await send('POST', `${api}/conversations/${uuid}/chat`, body))
    expect(seen).toMatchObject({ uuid, text: 'Goodbye.' })
  })
})

matrix.method('prompts.delete', () => {
  test('deletes in a draft', async () => {
    const path = `${api}/projects/1/versions/${await bench.newDraft()}/documents/folder/triage`
    const { answer, sent } = await sentDuring(bench, () => send('DELETE', path))
    expect(sent).toMatchObject([{ text: '', headers: { 'content-type': 'application/json' } }])
    expect(DeletedPrompt.parse(await answer.json())).toMatchObject({ path: 'folder/triage' })
    expect((await send('DELETE', path)).status).toBe(404)
  })

  test('on the live version it is refused with its reason', async () => {
    const answer = await send('DELETE', `${api}/projects/1/versions/live/documents/greet`)
    expect([answer.status, ErrorBody.parse(await answer.json()).errorCode]).toEqual([400, 'BadRequestError'])
  })
})

matrix.method('runs.attach', () => {
  test('as a stream, all of the run; as JSON, its end', async () => {
    bench.provider.enqueue({ text: 'Later.' })
    const uuid = await startInBackground('greet')
    const path = `${api}/conversations/${uuid}/attach`
    const seen = await readStream(await send('POST', path, { stream: true }))
    expect(seen).toMatchObject({ uuid, text: 'Later.' })
    expect(seen.types[0]).toBe('chain-started')
    const answer = await send('POST', path, { stream: false })
    expect(AttachedResult.parse(await answer.json())).toMatchObject({ uuid, response: { text: 'Later.' } })
  })

  test('an unknown run is refused, the reason under both keys', async () => {
    for (const stream of [true, false]) {
      const answer = await send('POST', `${api}/conversations/${unknown}/attach`, { stream })
      expect(answer.status).toBe(404)
      AttachErrorBody.parse(await answer.json())
    }
  })
})

matrix.method('runs.stop', () => {
  test('ends a run', async () => {
    bench.provider.enqueue({ text: 'never whole', hang: 'mid-stream' })
    const called = bench.provider.waitForRequest(bench.provider.requests.length + 1)
    const uuid = await startInBackground('greet')
    await called
    const answer = await send('POST', `${api}/conversations/${uuid}/stop`)
    expect(answer.status).toBe(200)
    expect(Stopped.parse(await answer.json())).toEqual({ uuid, stopped: true, status: 'stopped' })
  })

  test('an unknown run is refused in JSON', async () => {
    const answer = await send('POST', `${api}/conversations/${unknown}/stop`)
    expect([answer.status, ErrorBody.parse(await answer.json()).errorCode]).toEqual([404, 'NotFoundError'])
  })
})

matrix.close(() => ['prompts.run', 'prompts.chat', 'prompts.delete', 'runs.attach', 'runs.stop'])
