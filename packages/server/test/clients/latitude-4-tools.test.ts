/** Tool handlers of the published client 4.1.9: the run ends with the requests, and goes on by chat. */
import type { Latitude as LatitudeClient } from 'latitude-sdk-4'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClientBench, openForClient } from './open-client.ts'

const prompt =
  '---\nprovider: OpenAI\nmodel: gpt-4o\ntools:\n  - get_weather: { description: Weather, parameters: { type: object } }\n---\n<user>Weather?</user>\n'

let bench: ClientBench
let client: LatitudeClient

beforeAll(async () => {
  bench = await openForClient({ weather: prompt })
  const { Latitude } = await import('latitude-sdk-4')
  const { hostname, port } = new URL(bench.server.url)
  const gateway = { host: hostname, port: Number(port), ssl: false }
  client = new Latitude(bench.server.adminKey, { projectId: 1, __internal: { gateway } })
}, 60_000)
afterAll(() => bench?.close())

const call = (city: string) => ({ id: 'a', name: 'get_weather', arguments: { city } })
const toolsSent = () => {
  const sent = bench.provider.requests.at(-1)?.body['messages'] as { role: string; content: string }[]
  return sent.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

test.each([{ stream: true }, { stream: false }])(
  'handlers answer until no tool is requested ($stream)',
  async ({ stream }) => {
    bench.provider.enqueue(
      { toolCalls: [call('Rome'), call('Bari')] },
      { toolCalls: [call('Oslo')] },
      { text: 'All of it.' },
    )
    const asked: unknown[] = []
    const result = await client.prompts.run<{ get_weather: { city: string } }>('weather', {
      stream,
      tools: {
        get_weather: async ({ city }, { toolId, toolName, conversationUuid }) => {
          asked.push([city, toolName, toolId, conversationUuid])
          return city === 'Oslo' ? 'snow' : { city }
        },
      },
    })
    expect(result?.response.text).toBe('All of it.')
    const { uuid } = result ?? {}
    expect(asked).toEqual(
      ['Rome', 'Bari', 'Oslo'].map((city) => [city, 'get_weather', expect.stringMatching(/^call_/), uuid]),
    )
    expect(toolsSent()).toEqual(['{"city":"Rome"}', '{"city":"Bari"}', '{"result":"snow"}'])
  },
)

test.each([{ stream: true }, { stream: false }])(
  'a handler may pause; the calls stay open ($stream)',
  async ({ stream }) => {
    bench.provider.enqueue({ toolCalls: [call('Rome')] })
    const result = await client.prompts.run<{ get_weather: { city: string } }>('weather', {
      stream,
      tools: { get_weather: async (_args, { pauseExecution }) => pauseExecution() },
    })
    const conversation = await bench.server.client.conversations.get(result?.uuid ?? '')
    expect(conversation).toMatchObject({
      status: 'completed',
      toolRequests: [{ name: 'get_weather', arguments: { city: 'Rome' } }],
    })
  },
)
