import { expect, test } from 'vitest'
import { sentDuring, userMessage } from '../matrix/client-bench.ts'
import type { FinishedResult } from './python-client.ts'
import type { PythonApiError } from './python-http.ts'
import type { ReadyPython } from './ready.ts'

const textOf = (result: unknown) => (result as FinishedResult | undefined)?.response.text

export function runTests(ready: () => ReadyPython): void {
  test('as a stream, which is on by default', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ deltas: ['Hel', 'lo ', 'Ana.'] })
    const types: unknown[] = []
    const finished: unknown[] = []
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('greet', {
        parameters: { name: 'Ana' },
        custom_identifier: 'order-7',
        on_event: ({ type }) => void types.push(type),
        on_finished: (result) => void finished.push(result),
      }),
    )
    expect(sent[0]?.body).toEqual({
      path: 'greet',
      parameters: { name: 'Ana' },
      customIdentifier: 'order-7',
      stream: true,
      __internal: { source: 'api' },
    })
    expect(textOf(answer)).toBe('Hello Ana.')
    expect(types.filter((type) => !`${type}`.includes('delta'))).toEqual([
      'chain-started',
      'step-started',
      'provider-started',
      'start-step',
      'finish-step',
      'finish',
      'provider-completed',
      'step-completed',
      'chain-completed',
    ])
    expect(finished).toEqual([answer])
    expect(await bench.server.client.conversations.get(answer?.uuid ?? '')).toMatchObject({
      customIdentifier: 'order-7',
    })
  })

  test('as JSON', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello.' })
    const result = await client.prompts.run('greet', { stream: false })
    expect(result).toMatchObject({ toolRequests: [], response: { text: 'Hello.', cost: expect.any(Number) } })
  })

  test('a chain of steps, and an answer with a schema', async () => {
    const { client, bench } = ready()
    for (const stream of [true, false]) {
      bench.provider.enqueue({ text: 'Uno.' }, { text: 'Due.' }, { object: { urgent: true } })
      expect(textOf(await client.prompts.run('chain', { stream }))).toBe('Due.')
      expect(await client.prompts.run('folder/triage', { stream })).toMatchObject({
        response: { streamType: 'object', object: { urgent: true } },
      })
    }
  })

  test('messages of the caller, and headers for its tools', async () => {
    const { client, bench } = ready()
    const mcp_headers = { weather: { authorization: 'x' } }
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('greet', { messages: [userMessage('And in French?')], mcp_headers }),
    )
    expect(sent[0]?.body).toMatchObject({ mcpHeaders: mcp_headers })
    expect((answer as FinishedResult).conversation[2]).toEqual(userMessage('And in French?'))
  })

  test('reasoning of the model is in its own events, and in no message', async () => {
    const { client, bench } = ready()
    for (const stream of [true, false]) {
      bench.provider.enqueue({ reasoning: 'Let me think.', text: 'Hello.' })
      const types: unknown[] = []
      const result = await client.prompts.run('greet', { stream, on_event: ({ type }) => void types.push(type) })
      expect(result).toMatchObject({ response: { text: 'Hello.', reasoning: 'Let me think.' } })
      expect(types.includes('reasoning-delta')).toBe(stream)
    }
  })

  test('the kind of every provider is one of its list, and costs are numbers where no price is known', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    const prompt = '---\nprovider: demo\nmodel: any\n---\n<user>Hi</user>'
    await client.prompts.get_or_create('with-demo', { version_uuid, prompt })
    for (const stream of [true, false]) {
      expect(await client.prompts.run('with-demo', { version_uuid, stream })).toMatchObject({
        response: { provider: 'custom', model: 'any', cost: 0 },
      })
    }
  })

  test('images and files of the user are shown, those of an assistant are left out: the client refuses them', async () => {
    const { client, bench } = ready()
    const version_uuid = await bench.newDraft()
    const image = '<content-image>https://example.com/a.png</content-image>'
    const file = '<content-file mime="application/pdf">https://example.com/a.pdf</content-file>'
    const turns = `<assistant>Seen: ${image}${file}</assistant>\n<user>${image}${file}</user>`
    const prompt = `---\nprovider: demo\nmodel: any\n---\n${turns}`
    await client.prompts.get_or_create('media', { version_uuid, prompt })
    for (const stream of [true, false]) {
      const result = await client.prompts.run('media', { version_uuid, stream })
      const [assistant, user] = (result as FinishedResult).conversation as { content: { type: string }[] }[]
      expect(assistant?.content).toEqual([{ type: 'text', text: 'Seen:' }])
      expect(user?.content.map(({ type }) => type)).toEqual(['image', 'file'])
    }
  })

  test('messages of the role developer are shown as system', async () => {
    const { client, bench } = ready()
    const messages = [{ role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] }, userMessage('Hi')]
    for (const stream of [true, false]) {
      const result = await client.prompts.run('greet', { messages, stream })
      expect((result as FinishedResult).conversation[2]).toMatchObject({ role: 'system' })
      expect(await bench.server.client.conversations.get(result?.uuid ?? '')).toMatchObject({
        conversation: expect.arrayContaining([expect.objectContaining({ role: 'developer' })]),
      })
    }
  })

  test('in the background', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Later.' })
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('greet', { background: true, stream: false }),
    )
    expect(sent[0]?.body).toMatchObject({ background: true, stream: false })
    expect((await bench.server.client.runs.attach(answer?.uuid ?? '')).response.text).toBe('Later.')
  })

  test('failures are raised, or told to on_error', async () => {
    const { client, bench } = ready()
    const cases = [
      { path: 'nowhere', stream: true, status: 404, code: 'NotFoundError' },
      { path: 'nowhere', stream: false, status: 404, code: 'NotFoundError' },
      { path: 'once', stream: true, status: 400, code: 'ai_run_error' },
      { path: 'once', stream: false, status: 422, code: 'ai_run_error' },
    ]
    for (const { path, stream, ...failure } of cases) {
      bench.provider.setDefault({ status: 401 })
      await expect(client.prompts.run(path, { stream })).rejects.toMatchObject(failure)
      const errors: PythonApiError[] = []
      const result = await client.prompts.run(path, { stream, on_error: (error) => void errors.push(error) })
      expect(result).toBeUndefined()
      expect(errors).toMatchObject([failure])
      bench.provider.setDefault({ text: 'Hello from the fake provider.' })
    }
  })
}

export function chatTests(ready: () => ReadyPython): void {
  test('the conversation goes on, in both modes', async () => {
    const { client, bench } = ready()
    const first = await client.prompts.run('greet', {})
    const uuid = first?.uuid ?? ''
    for (const [place, stream] of [true, false].entries()) {
      bench.provider.enqueue({ text: 'Goodbye.' })
      const { answer, sent } = await sentDuring(bench, () =>
        client.prompts.chat(uuid, [userMessage('And now?')], { stream }),
      )
      expect(sent[0]?.body).toEqual({ messages: [userMessage('And now?')], stream, __internal: { source: 'api' } })
      expect(answer).toMatchObject({ uuid, response: { text: 'Goodbye.' } })
      expect((answer as FinishedResult).conversation).toHaveLength(5 + 2 * place)
    }
  })

  test('an unknown conversation is raised', async () => {
    const { client, bench } = ready()
    for (const stream of [true, false]) {
      await expect(client.prompts.chat(bench.liveUuid, [userMessage('Hi')], { stream })).rejects.toMatchObject({
        status: 404,
        code: 'NotFoundError',
        message: 'Conversation not found',
      })
    }
  })
}
