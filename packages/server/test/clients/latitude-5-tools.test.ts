/** Tool handlers of the published client 5.1.0: it names them, and answers while the stream stays open. */
import type { Latitude as LatitudeClient } from 'latitude-sdk-5'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClientBench, openForClient } from './open-client.ts'

const prompt =
  '---\nprovider: OpenAI\nmodel: gpt-4o\ntools:\n  - get_weather: { description: Weather, parameters: { type: object } }\n  - ask: {}\n---\n<user>Weather?</user>\n'

let bench: ClientBench
let client: LatitudeClient

beforeAll(async () => {
  bench = await openForClient({ weather: prompt })
  const { Latitude } = await import('latitude-sdk-5')
  client = new Latitude(bench.server.adminKey, { projectId: 1 })
}, 60_000)
afterAll(() => bench?.close())

const rome = { id: 'a', name: 'get_weather', arguments: { city: 'Rome' } }
const oslo = { id: 'b', name: 'get_weather', arguments: { city: 'Oslo' } }

test('handlers of a run answer in the open stream, several in one turn', async () => {
  bench.provider.enqueue({ toolCalls: [rome, oslo] }, { text: 'Sunny and cold.' })
  const asked: unknown[] = []
  const result = await client.prompts.run<'text', { get_weather: { city: string } }>('weather', {
    stream: true,
    tools: {
      get_weather: async ({ city }, details) => {
        asked.push([city, details.name, details.id])
        return { sky: city === 'Rome' ? 'blue' : 'grey' }
      },
    },
  })
  expect(result?.response.text).toBe('Sunny and cold.')
  expect(asked).toEqual([
    ['Rome', 'get_weather', expect.stringMatching(/^call_/)],
    ['Oslo', 'get_weather', expect.stringMatching(/^call_/)],
  ])
  const sent = bench.provider.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
  expect(sent.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
    '{"sky":"blue"}',
    '{"sky":"grey"}',
  ])
})

test('handlers of a chat do the same', async () => {
  bench.provider.enqueue({ text: 'Hello.' })
  const first = await client.prompts.run('weather', { stream: true })
  bench.provider.enqueue({ toolCalls: [rome] }, { text: 'Sunny.' })
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Rome?' }] }] as Parameters<
    LatitudeClient['prompts']['chat']
  >[1]
  const chat = await client.prompts.chat<'text', { get_weather: { city: string } }>(first?.uuid ?? '', messages, {
    stream: true,
    tools: { get_weather: async () => 'blue' },
  })
  expect(chat?.response.text).toBe('Sunny.')
})

test('a call without a handler ends the run with the request', async () => {
  bench.provider.enqueue({ toolCalls: [{ id: 'x', name: 'ask', arguments: {} }] })
  const result = await client.prompts.run('weather', { stream: true })
  expect(result?.response).toMatchObject({ toolCalls: [{ name: 'ask', arguments: {} }], finishReason: 'tool-calls' })
})
