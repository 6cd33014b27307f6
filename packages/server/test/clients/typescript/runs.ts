/** Runs and chats, which work the same in all published TypeScript clients. */
import { expect, test } from 'vitest'
import type { FakeReply } from '../../support/fake-provider.ts'
import { failureOf, sentDuring, userMessage } from '../matrix/client-bench.ts'
import { DeclaredEvent, ProviderEvent, RunResult, UndeclaredEvent } from '../matrix/wire.ts'
import type { ApiError, Body, RunResult as Result, RunOptions } from './published-client.ts'
import type { Ready } from './ready.ts'

const runPath = 'POST /api/v3/projects/1/versions/live/documents/run'
const wholeRun = [
  'chain-started',
  'step-started',
  'provider-started',
  'provider-completed',
  'step-completed',
  'chain-completed',
]

/** Records callback input and checks every event against the types that the clients accept. */
export function listener(declares: string | undefined) {
  const seen = { types: [] as string[], text: '', finished: [] as Result[], errors: [] as ApiError[], uuid: '' }
  const callbacks: Pick<RunOptions, 'onEvent' | 'onFinished' | 'onError'> = {
    onEvent({ event, data }) {
      if (event === 'provider-event') {
        const { type, textDelta } = ProviderEvent.parse(data) as Body
        if (type === 'text-delta') seen.text += String(textDelta)
        return
      }
      expect(event).toBe('latitude-event')
      const { type, uuid } = (declares === undefined ? UndeclaredEvent : DeclaredEvent).parse(data)
      seen.types.push(type)
      seen.uuid = uuid
    },
    onFinished: (data) => void seen.finished.push(data),
    onError: (error) => void seen.errors.push(error),
  }
  return { seen, callbacks }
}

export function runTests(ready: Ready): void {
  test('as JSON', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello Ana.' })
    const finished: Result[] = []
    const { answer, lines } = await sentDuring(bench, () =>
      client.prompts.run('greet', {
        parameters: { name: 'Ana' },
        stream: false,
        onFinished: (data) => void finished.push(data),
      }),
    )
    expect(lines).toEqual([runPath])
    const result = RunResult.parse(answer)
    expect(result).toMatchObject({
      response: { streamType: 'text', text: 'Hello Ana.', provider: 'openai', finishReason: 'stop' },
      toolRequests: [],
      conversation: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Say hello to Ana.' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Hello Ana.' }] },
      ],
    })
    expect(finished).toEqual([answer])
  })

  test('streaming is off unless it is asked for', async () => {
    const { client, bench } = ready()
    const { answer, sent } = await sentDuring(bench, () => client.prompts.run('greet', {}))
    expect(sent[0]?.body).toMatchObject({ stream: false })
    RunResult.parse(answer)
  })

  test('as a stream: every event, the pieces of the text, the result', async () => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue({ deltas: ['Hel', 'lo ', 'Leo.'] })
    const { seen, callbacks } = listener(declares)
    const result = await client.prompts.run('greet', { parameters: { name: 'Leo' }, stream: true, ...callbacks })
    expect(seen).toMatchObject({ types: wholeRun, text: 'Hello Leo.', errors: [] })
    expect(result).toMatchObject({ uuid: seen.uuid, response: { text: 'Hello Leo.' } })
    expect(result?.conversation).toHaveLength(3)
    expect(seen.finished).toEqual([result])
  })

  test('a parameter that is not sent renders empty', async () => {
    const { client } = ready()
    const result = await client.prompts.run('greet', { stream: true })
    expect(result?.conversation[1]).toEqual(userMessage('Say hello to .'))
  })

  test('a chain of steps: the result is that of the last step', async () => {
    const { client, bench, declares } = ready()
    const { seen, callbacks } = listener(declares)
    bench.provider.enqueue({ text: 'Uno.' }, { text: 'Due.' })
    const streamed = await client.prompts.run('chain', { stream: true, ...callbacks })
    expect(seen.types).toEqual([wholeRun[0], ...wholeRun.slice(1, 5), ...wholeRun.slice(1, 5), wholeRun[5]])
    expect(streamed?.response.text).toBe('Due.')
    expect(streamed?.conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    bench.provider.enqueue({ text: 'Uno.' }, { text: 'Due.' })
    expect((await client.prompts.run('chain', { stream: false }))?.response.text).toBe('Due.')
  })

  test('an answer with a schema is an object', async () => {
    const { client, bench } = ready()
    for (const stream of [true, false]) {
      bench.provider.enqueue({ object: { urgent: true } })
      const result = await client.prompts.run('folder/triage', { stream })
      expect(result?.response).toMatchObject({ streamType: 'object', object: { urgent: true } })
    }
  })

  test('a version by its uuid, and an identifier of the caller', async () => {
    const { client, bench } = ready()
    const versionUuid = await bench.newDraft()
    const result = await client.prompts.run('greet', { versionUuid, customIdentifier: 'order-7', stream: true })
    expect(await bench.server.client.conversations.get(result?.uuid ?? '')).toMatchObject({
      versionUuid,
      customIdentifier: 'order-7',
      status: 'completed',
    })
  })

  test('an unknown prompt: JSON rejects, or calls onError; a stream resolves to nothing', async () => {
    const { client, declares } = ready()
    const notFound = { status: 404, errorCode: 'NotFoundError', message: 'Document not found at path: nowhere' }
    expect(await failureOf(client.prompts.run('nowhere', { stream: false }))).toMatchObject(notFound)
    for (const stream of [true, false]) {
      const { seen, callbacks } = listener(declares)
      expect(await client.prompts.run('nowhere', { stream, ...callbacks })).toBeUndefined()
      expect(seen.errors).toEqual([expect.objectContaining(notFound)])
    }
  })

  test('a failure of the provider: JSON rejects with the run code, a stream tells onError twice', async () => {
    const { client, bench, declares } = ready()
    const refusal: FakeReply = { status: 401, body: { error: { message: 'no such key' } } }
    bench.provider.enqueue(refusal, refusal)
    expect(await failureOf(client.prompts.run('greet', { stream: false }))).toMatchObject({
      status: 422,
      errorCode: 'ai_run_error',
      message: expect.stringContaining('401'),
    })
    const { seen, callbacks } = listener(declares)
    expect(await client.prompts.run('greet', { stream: true, ...callbacks })).toBeUndefined()
    const shown = expect.objectContaining({
      status: 402,
      errorCode: 'ai_run_error',
      message: expect.stringContaining('401'),
    })
    expect(seen.errors).toEqual([shown, shown])
    expect(seen.types.at(-1)).toBe('chain-error')
  })

  test('a failure in the middle of a stream comes after the text so far', async () => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue({ deltas: ['Half ', 'of it'], cut: 1 })
    const { seen, callbacks } = listener(declares)
    expect(await client.prompts.run('once', { stream: true, ...callbacks })).toBeUndefined()
    expect(seen).toMatchObject({ text: 'Half ', finished: [] })
    expect(seen.types.at(-1)).toBe('chain-error')
  })

  test('a signal ends the reading; the run goes on for the grace period', async () => {
    const { client, bench, declares } = ready()
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    bench.provider.enqueue({ deltas: ['First', ' and last'], gate })
    const { seen, callbacks } = listener(declares)
    const controller = new AbortController()
    const result = await client.prompts.run('greet', {
      stream: true,
      signal: controller.signal,
      ...callbacks,
      onEvent(event) {
        callbacks.onEvent?.(event)
        if (seen.text === 'First') controller.abort()
      },
    })
    expect(result).toBeUndefined()
    expect(seen.errors.length).toBeGreaterThan(0)
    const attached = bench.server.client.runs.attach(seen.uuid)
    finish()
    expect((await attached).response.text).toBe('First and last')
  })
}

export function chatTests(ready: Ready): void {
  const start = async (): Promise<string> => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello.' })
    return (await client.prompts.run('greet', { stream: true }))?.uuid ?? ''
  }

  test('as JSON: the conversation goes on', async () => {
    const { client, bench } = ready()
    const uuid = await start()
    bench.provider.enqueue({ text: 'Goodbye.' })
    const finished: Result[] = []
    const { answer, lines } = await sentDuring(bench, () =>
      client.prompts.chat(uuid, [userMessage('And now?')], { onFinished: (data) => void finished.push(data) }),
    )
    expect(lines).toEqual([`POST /api/v3/conversations/${uuid}/chat`])
    const result = RunResult.parse(answer)
    expect(result).toMatchObject({ uuid, response: { text: 'Goodbye.' } })
    expect(result.conversation).toHaveLength(5)
    expect(finished).toEqual([answer])
  })

  test('as a stream', async () => {
    const { client, bench, declares } = ready()
    const uuid = await start()
    bench.provider.enqueue({ deltas: ['Good', 'bye.'] })
    const { seen, callbacks } = listener(declares)
    const result = await client.prompts.chat(uuid, [userMessage('And now?')], { stream: true, ...callbacks })
    expect(seen).toMatchObject({ types: wholeRun, text: 'Goodbye.', uuid, errors: [] })
    expect(result).toMatchObject({ uuid, response: { text: 'Goodbye.' } })
    expect(result?.conversation).toHaveLength(5)
    expect(seen.finished).toEqual([result])
  })

  test('an unknown conversation rejects, or calls onError, in both modes', async () => {
    const { client, bench, declares } = ready()
    const notFound = { status: 404, errorCode: 'NotFoundError', message: 'Conversation not found' }
    for (const stream of [true, false]) {
      const chat = (options: RunOptions) =>
        client.prompts.chat(bench.liveUuid, [userMessage('Hi')], { stream, ...options })
      expect(await failureOf(chat({}))).toMatchObject(notFound)
      const { seen, callbacks } = listener(declares)
      expect(await chat(callbacks)).toBeUndefined()
      expect(seen.errors).toEqual([expect.objectContaining(notFound)])
    }
  })

  test('a conversation that is busy rejects', async () => {
    const { client, bench } = ready()
    let finish = () => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const uuid = await start()
    bench.provider.enqueue({ text: 'Slow.', gate })
    const first = client.prompts.chat(uuid, [userMessage('One')])
    await bench.provider.waitForRequest(bench.provider.requests.length + 1)
    expect(await failureOf(client.prompts.chat(uuid, [userMessage('Two')]))).toMatchObject({
      status: 409,
      errorCode: 'ConflictError',
    })
    finish()
    expect((await first)?.response.text).toBe('Slow.')
  })

  test('a failure of the provider: JSON keeps the code, a stream rejects with the message', async () => {
    const { client, bench } = ready()
    const uuid = await start()
    const refusal: FakeReply = { status: 401, body: { error: { message: 'no such key' } } }
    bench.provider.enqueue(refusal, refusal)
    expect(await failureOf(client.prompts.chat(uuid, [userMessage('One')], { stream: false }))).toMatchObject({
      status: 422,
      errorCode: 'ai_run_error',
    })
    expect(await failureOf(client.prompts.chat(uuid, [userMessage('Two')], { stream: true }))).toMatchObject({
      message: expect.stringContaining('401'),
    })
  })
}
