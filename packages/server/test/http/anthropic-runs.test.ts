/** Runs with the environment's `anthropic` provider key: reasoning that is sent back, cache costs, and early ends. */
import type { RunResult } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import type { TestServer } from '../support/test-server.ts'
import { type Api, createTestProject, openServer, type TestProject } from './scenario.ts'

let fake: FakeProvider
let server: TestServer
let api: Api
let key: string
let project: TestProject

const prompt = `---
provider: Anthropic
model: claude-sonnet-4-20250514
thinking: { type: enabled, budgetTokens: 1024 }
tools:
  weather: { description: Weather, parameters: { type: object, properties: {} } }
---
Be brief.
<user>Weather?</user>`

beforeAll(async () => {
  fake = await fakeProvider()
  ;({ server, api, key } = await openServer({ ANTHROPIC_API_KEY: 'sk-ant-0123456789', ANTHROPIC_BASE_URL: fake.url }))
  project = await createTestProject(api, { ask: prompt })
})
afterAll(async () => {
  await server.close()
  await fake.close()
})

it('sends reasoning back with its signature in a chat, and counts the cost of cache writes', async () => {
  fake.enqueue({
    reasoning: 'need the weather',
    toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: {} }],
    usage: { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60, output_tokens: 20 },
  })
  const answer = await api('POST', `${project.live}/documents/run`, { body: { path: 'ask' } })
  expect(answer.status, answer.text).toBe(200)
  const result = answer.body as unknown as RunResult
  // Prices per million tokens: 10 uncached at 3, 30 written at 3.75, 60 read at 0.3, 20 output at 15.
  expect(result.response).toMatchObject({ usage: { inputTokens: 100, cachedInputTokens: 60 }, cost: 0.0004605 })
  expect(result.response.usage).not.toHaveProperty('cacheWriteTokens')

  fake.enqueue({ text: 'Sunny.' })
  const [call] = result.toolRequests
  const messages = [
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: call?.id, toolName: 'weather', result: 'sun' }] },
  ]
  const chat = await api('POST', `/conversations/${String(answer.body['uuid'])}/chat`, { body: { messages } })
  expect(chat.status, chat.text).toBe(200)
  const { path, headers, body } = await fake.waitForRequest(2)
  expect([path, headers['x-api-key']]).toEqual(['/v1/messages', 'sk-ant-0123456789'])
  expect(body).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'need the weather', signature: 'c2lnbmVkLWJ5LXRoZS1mYWtl' },
          { type: 'tool_use', id: call?.id, name: 'weather', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id, content: 'sun' }] },
    ],
  })
})

function gated() {
  let resolve = () => {}
  const promise = new Promise<void>((open) => {
    resolve = open
  })
  return { promise, resolve: () => resolve() }
}

it('keeps the words and the counted tokens of a run that is stopped', async () => {
  const usage = { input_tokens: 40, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 }
  const { promise: gate, resolve: openGate } = gated()
  fake.enqueue({ deltas: ['Half', ' of an answer'], usage, gate, gateAfter: 2 })
  const { body } = await api('POST', `${project.live}/documents/run`, { body: { path: 'ask', background: true } })
  const conversation = `/conversations/${String(body['uuid'])}`
  const messages = async () => JSON.stringify((await api('GET', conversation)).body['conversation'])
  const attached = fetch(`${server.url}/api/v3${conversation}/attach`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"stream":true}',
  })
  const reader = (await attached).body?.pipeThrough(new TextDecoderStream()).getReader()
  let seen = ''
  while (!seen.includes('text-delta')) seen += (await reader?.read())?.value ?? ''
  expect((await api('POST', `${conversation}/stop`)).body['status']).toBe('stopped')
  openGate()
  await reader?.cancel()
  const stopped = (await api('GET', conversation)).body
  // `message_start` counts the input and one token of output.
  expect(stopped).toMatchObject({ status: 'stopped', tokenUsage: { inputTokens: 40 }, cost: 0.000135 })
  expect(await messages()).toMatch(/"text":"Half/)
})

it('omits reasoning for a legacy client, whose models refuse it', async () => {
  for (const [headers, expected] of [
    [{}, ['reasoning', 'text']],
    [{ 'x-latitude-sdk-version': '5.1.0' }, ['text']],
  ] as const) {
    fake.enqueue({ reasoning: 'thinking', text: 'Hi' })
    const { body } = await api('POST', `${project.live}/documents/run`, { body: { path: 'ask' }, headers })
    const { conversation, response } = body as unknown as RunResult
    for (const messages of [conversation, response.output])
      expect(messages.at(-1)?.content.map(({ type }) => type)).toEqual(expected)
  }
})
