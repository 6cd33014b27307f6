/** In 5.1.0, the client names its tool handlers and answers calls while the stream stays open. */
import { expect, test } from 'vitest'
import { failureOf, sentDuring, toolAnswers, userMessage } from '../matrix/client-bench.ts'
import type { Matrix } from '../matrix/client-matrix.ts'
import { ToolCallEvent } from '../matrix/wire.ts'
import type { Body } from '../typescript/published-client.ts'
import type { Ready } from '../typescript/ready.ts'
import { listener } from '../typescript/runs.ts'

const weatherIn = (id: string, city: string) => ({ id, name: 'get_weather', arguments: { city } })

export function runToolTests(ready: Ready): void {
  test('handlers answer in the open stream, several in one turn', async () => {
    const { client, bench, declares } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome'), weatherIn('b', 'Oslo')] }, { text: 'Sunny and cold.' })
    const { seen, callbacks } = listener(declares)
    const asked: unknown[] = []
    const calls: Body[] = []
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('weather', {
        stream: true,
        ...callbacks,
        onEvent(event) {
          callbacks.onEvent?.(event)
          if (event.data['type'] === 'tool-call') calls.push(ToolCallEvent.parse(event.data))
        },
        tools: {
          get_weather: async ({ city }, { id, name }) => {
            asked.push([city, name, id])
            return { sky: city === 'Rome' ? 'blue' : 'grey' }
          },
        },
      }),
    )
    expect(answer?.response.text).toBe('Sunny and cold.')
    const ids = calls.map(({ toolCallId }) => toolCallId)
    expect(asked).toEqual([
      ['Rome', 'get_weather', ids[0]],
      ['Oslo', 'get_weather', ids[1]],
    ])
    expect(sent.map(({ path, body }) => [path.split('/').at(-1), body?.['tools'] ?? body?.['toolCallId']])).toEqual([
      ['run', ['get_weather']],
      ['results', ids[0]],
      ['results', ids[1]],
    ])
    expect(sent.slice(1).filter(({ body }) => 'isError' in (body ?? {}))).toEqual([])
    expect(toolAnswers(bench)).toEqual(['{"sky":"blue"}', '{"sky":"grey"}'])
    expect(seen.types.at(-1)).toBe('chain-completed')
  })

  test('a call without a handler is left alone: the run ends with the request', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [{ id: 'x', name: 'ask', arguments: {} }] })
    const result = await client.prompts.run('weather', { stream: true, tools: { get_weather: async () => 'blue' } })
    expect(result?.response).toMatchObject({ toolCalls: [{ name: 'ask', arguments: {} }], finishReason: 'tool-calls' })
  })

  test('as JSON nobody could answer: the run ends with the request', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] })
    const { answer, sent } = await sentDuring(bench, () =>
      client.prompts.run('weather', { stream: false, tools: { get_weather: async () => 'blue' } }),
    )
    expect(sent[0]?.body).toMatchObject({ tools: [] })
    expect(answer?.toolRequests).toMatchObject([{ name: 'get_weather', arguments: { city: 'Rome' } }])
  })

  test('in the background as a stream handlers answer too', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] }, { text: 'Sunny.' })
    const result = await client.prompts.run('weather', {
      background: true,
      stream: true,
      tools: { get_weather: async () => 'blue' },
    })
    expect(result?.response.text).toBe('Sunny.')
    expect(toolAnswers(bench)).toEqual(['blue'])
  })
}

export function chatToolTests(ready: Ready): void {
  test('handlers answer in the open stream of a chat', async () => {
    const { client, bench } = ready()
    bench.provider.enqueue({ text: 'Hello.' })
    const first = await client.prompts.run('weather', { stream: true })
    bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] }, { text: 'Sunny.' })
    const chat = await client.prompts.chat(first?.uuid ?? '', [userMessage('Rome?')], {
      stream: true,
      tools: { get_weather: async () => 'blue' },
    })
    expect(chat?.response.text).toBe('Sunny.')
    expect(toolAnswers(bench)).toEqual(['blue'])
  })
}

export function toolBehaviours(matrix: Matrix, ready: Ready): void {
  matrix.behaviour(
    'a tool handler that fails',
    () => {
      test('its error ends the reading of a run, and the server stops the run after the last reader', async () => {
        const { client, bench, declares } = ready()
        bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] })
        const { seen, callbacks } = listener(declares)
        const result = await client.prompts.run('weather', {
          stream: true,
          ...callbacks,
          tools: {
            get_weather: async () => {
              throw new Error('no such city')
            },
          },
        })
        expect(result).toBeUndefined()
        expect(seen.errors[0]).toMatchObject({ message: expect.stringContaining('no such city') })
        expect(await bench.server.client.runs.stop(seen.uuid)).toMatchObject({ stopped: true, status: 'stopped' })
      })

      test('a refused post of the result ends the reading of a chat', async () => {
        const { client, bench } = ready()
        const started = await client.prompts.run('weather', { stream: true })
        bench.provider.enqueue({ toolCalls: [weatherIn('a', 'Rome')] })
        const call = client.prompts.chat(started?.uuid ?? '', [userMessage('Rome?')], {
          stream: true,
          tools: {
            get_weather: async () => {
              bench.front.refuseNext(422)
              return 'blue'
            },
          },
        })
        expect(await failureOf(call)).toMatchObject({ message: expect.stringContaining('Refused with 422') })
        await bench.server.client.runs.stop(started?.uuid ?? '')
      })
    },
    'The client stops reading and sends no error result. The run waits 5 minutes for the result, or ends after the grace period.',
  )
}
