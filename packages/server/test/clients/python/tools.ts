/** Python tool handlers work like in the TypeScript client 5.1.0, but post failures as error results. */
import { expect, test } from 'vitest'
import { sentDuring, toolAnswers, userMessage } from '../matrix/client-bench.ts'
import type { ReadyPython } from './ready.ts'

const weatherIn = (id: string, city: string) => ({ id, name: 'get_weather', arguments: { city } })

export function toolTests(ready: () => ReadyPython): void {
  test('handlers of a run answer in the open stream', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome'), weatherIn('b', 'Oslo')] }, { text: 'Done.' })
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('weather', { tools: { get_weather: async ({ city }) => ({ city, sky: 'blue' }) } }),
    )
    expect(answer).toMatchObject({ response: { text: 'Done.' } })
    expect(sent[0]?.body).toMatchObject({ tools: ['get_weather'] })
    expect(sent.slice(1).map(({ body }) => Object.keys(body ?? {}))).toEqual([
      ['toolCallId', 'result', 'isError', '__internal'],
      ['toolCallId', 'result', 'isError', '__internal'],
    ])
    expect(toolAnswers(bench)).toEqual(['{"city":"Rome","sky":"blue"}', '{"city":"Oslo","sky":"blue"}'])
  })

  test('an exception of a handler goes to the model as an error result, and the run continues', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] }, { text: 'I could not find out.' })
    const events: Record<string, unknown>[] = []
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('weather', {
        on_event: (event) => void events.push(event),
        tools: {
          get_weather: async () => {
            throw new Error('no such city')
          },
        },
      }),
    )
    expect(sent[1]?.body).toMatchObject({ result: 'no such city', isError: true })
    expect(answer).toMatchObject({ response: { text: 'I could not find out.' } })
    expect(events.find(({ type }) => type === 'tool-result')).toMatchObject({ isError: true, result: 'no such city' })
  })

  test('a call without a handler is left alone: the run ends with the request', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [{ id: 'x', name: 'ask', arguments: {} }] })
    const result = await client.prompts.run('weather', { tools: { get_weather: async () => 'blue' } })
    expect(result).toMatchObject({ response: { toolCalls: [{ name: 'ask' }], finishReason: 'tool-calls' } })
  })

  test('handlers of a chat, and of an attached background run', async () => {
    const { client, bench } = ready()
    const tools = { get_weather: async () => 'blue' }
    bench.provider.enqueue({ text: 'Hello.' }, { toolCalls: [weatherIn('a', 'Rome')] }, { text: 'Sunny.' })
    const first = await client.prompts.run('weather')
    const chat = await client.prompts.chat(first?.uuid ?? '', [userMessage('Rome?')], { tools })
    expect(chat).toMatchObject({ response: { text: 'Sunny.' } })
    bench.provider.enqueue({ toolCalls: [weatherIn('b', 'Oslo')] }, { text: 'Grey.' })
    const started = await client.prompts.run('weather', { background: true, stream: false, tools })
    expect(await client.runs.attach(started?.uuid ?? '', { tools })).toMatchObject({ response: { text: 'Grey.' } })
  })
}
