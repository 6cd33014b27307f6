/** In 4.1.9, a run ends with its tool requests, and a chat continues it. */
import { expect, test } from 'vitest'
import { failureOf, sentDuring, toolAnswers, userMessage } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import type { Ready } from '../typescript/ready.ts'
import { listener } from '../typescript/runs.ts'

const weatherIn = (id: string, city: string) => ({ id, name: 'get_weather', arguments: { city } })
const modes = [{ stream: true }, { stream: false }]

export function runToolTests(ready: Ready): void {
  test.each(modes)('handlers answer until no tool is requested ($stream)', async ({ stream }) => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue(
      { toolCalls: [weatherIn('a', 'Rome'), weatherIn('b', 'Bari')] },
      { toolCalls: [weatherIn('c', 'Oslo')] },
      { text: 'All of it.' },
    )
    const { seen, callbacks } = listener(declares)
    const asked: unknown[] = []
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('weather', {
        stream,
        ...callbacks,
        tools: {
          get_weather: async ({ city }, { toolId, toolName, conversationUuid }) => {
            asked.push([city, toolName, toolId, conversationUuid])
            return city === 'Oslo' ? 'snow' : { city }
          },
        },
      }),
    )
    expect(answer?.response.text).toBe('All of it.')
    expect(seen).toMatchObject({ errors: [], finished: [answer] })
    expect(seen.types.filter((type) => type === 'tools-requested')).toHaveLength(stream ? 2 : 0)
    expect(asked).toEqual(
      ['Rome', 'Bari', 'Oslo'].map((city) => [city, 'get_weather', expect.stringMatching(/^call_/), answer?.uuid]),
    )
    expect(sent.map(({ path }) => path.split('/').at(-1))).toEqual(['run', 'chat', 'chat'])
    expect(toolAnswers(bench)).toEqual(['{"city":"Rome"}', '{"city":"Bari"}', '{"result":"snow"}'])
  })

  test.each(modes)('a handler may pause; the calls stay open ($stream)', async ({ stream }) => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] })
    const result = await client.prompts.run('weather', {
      stream,
      tools: { get_weather: async (_args, { pauseExecution }) => pauseExecution?.() },
    })
    expect(await bench.server.client.conversations.get(result?.uuid ?? '')).toMatchObject({
      status: 'completed',
      toolRequests: [{ name: 'get_weather', arguments: { city: 'Rome' } }],
    })
  })

  test('without handlers the requests are part of the result', async () => {
    const { client, bench } = ready()
    for (const { stream } of modes) {
      bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] })
      const result = await client.prompts.run('weather', { stream })
      expect(result?.toolRequests).toMatchObject([{ name: 'get_weather', arguments: { city: 'Rome' } }])
    }
  })

  test('a request without a handler is an error of the client: no chat follows', async () => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue({ toolCalls: [{ id: 'x', name: 'ask', arguments: {} }] })
    const { seen, callbacks } = listener(declares)
    const { lines } = await sentDuring(bench, () =>
      client.prompts
        .run('weather', { stream: true, ...callbacks, tools: { get_weather: async () => 'blue' } })
        .catch((error) => seen.errors.push(error)),
    )
    expect(lines).toHaveLength(1)
    expect(seen.errors[0]).toMatchObject({ status: 400, message: expect.stringContaining('ask') })
  })

  test('a tool named end_autonomous_chain is the final answer of an agent, and not run', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [{ id: 'z', name: 'end_autonomous_chain', arguments: { response: 'Done.' } }] })
    const { answer, lines } = await sentDuring(bench, () =>
      client.prompts.run('weather', { stream: true, tools: { get_weather: async () => 'blue' } }),
    )
    expect(lines).toHaveLength(1)
    expect(answer).toMatchObject({ agentResponse: { response: 'Done.' }, toolRequests: [] })
  })
}

export function chatToolTests(ready: Ready): void {
  test.each(modes)('handlers answer the requests of a chat ($stream)', async ({ stream }) => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello.' })
    const first = await client.prompts.run('weather', { stream: true })
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] }, { text: 'Sunny.' })
    const chat = await client.prompts.chat(first?.uuid ?? '', [userMessage('Rome?')], {
      stream,
      tools: { get_weather: async () => ({ sky: 'blue' }) },
    })
    expect(chat?.response.text).toBe('Sunny.')
    expect(toolAnswers(bench)).toEqual(['{"sky":"blue"}'])
  })

  test('a handler that throws rejects; the conversation can go on', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello.' }, { toolCalls: [weatherIn('a', 'Rome')] }, { text: 'Never mind.' })
    const first = await client.prompts.run('weather', { stream: true })
    const uuid = first?.uuid ?? ''
    const failing = client.prompts.chat(uuid, [userMessage('Rome?')], {
      stream: true,
      tools: {
        get_weather: async () => {
          throw new Error('no such city')
        },
      },
    })
    expect(await failureOf(failing)).toMatchObject({ message: expect.stringContaining('no such city') })
    expect((await client.prompts.chat(uuid, [userMessage('Leave it.')]))?.response.text).toBe('Never mind.')
  })
}

export function agentTests(matrix: Matrix, ready: Ready): void {
  matrix.method('prompts.renderAgent', () => {
    test('the application answers the steps until the model ends the chain', async () => {
      const { client } = ready()
      const prompt = await client.prompts.get('greet')
      const end = { name: 'end_autonomous_chain', arguments: '{"response":"Done."}' }
      let steps = 0
      const { result } = await client.prompts.renderAgent({
        prompt,
        parameters: { name: 'Ana' },
        onStep: async () => {
          steps += 1
          return steps === 1
            ? 'Thinking.'
            : { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: end }] }
        },
      })
      expect({ steps, result }).toEqual({ steps: 2, result: { response: 'Done.' } })
    })
  })
}
