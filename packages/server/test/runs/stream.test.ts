import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  assistantMessage,
  prompt,
  type RunBench,
  sharedBench,
  systemMessage,
  textOf,
  userMessage,
} from './run-bench.ts'

let bench: RunBench
beforeAll(async () => {
  bench = await sharedBench({
    hello: prompt('You are terse.\n<user>Say hello to {{ name }}.</user>'),
    chain: prompt('<step as="first">\n<user>One</user>\n</step>\n<step>\n<user>Then {{ first }}</user>\n</step>\n'),
    tools: prompt(
      '<user>Weather?</user>',
      'tools:\n  - get_weather: { description: Weather, parameters: { type: object } }\n',
    ),
  })
})
afterAll(() => bench.close())

const modelUsage = {
  inputTokens: 12,
  outputTokens: 8,
  promptTokens: 12,
  completionTokens: 8,
  totalTokens: 20,
  reasoningTokens: 0,
  cachedInputTokens: 0,
}

it('promise 8: a run is streamed event by event and ends with one terminal event', async () => {
  bench.fake.enqueue({ deltas: ['Hel', 'lo ', 'Ada'] })
  const recording = await bench.stream('hello', { parameters: { name: 'Ada' } })

  expect(recording.status).toBe(200)
  expect(Object.fromEntries(recording.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-conversation-uuid': recording.last['uuid'],
    'x-request-id': expect.any(String),
    'x-ratelimit-limit': expect.any(String),
  })
  expect(recording.types).toEqual([
    'chain-started',
    'step-started',
    'provider-started',
    '·start-step',
    '·text-delta',
    '·text-delta',
    '·text-delta',
    '·finish-step',
    '·finish',
    'provider-completed',
    'step-completed',
    'chain-completed',
  ])
  expect(recording.events[0]?.id).toBe(1)
  const compiled = [systemMessage('You are terse.'), userMessage('Say hello to Ada.')]
  const whole = [...compiled, assistantMessage('Hello Ada')]
  const messages = recording.events.filter(({ name }) => name === 'latitude-event').map(({ data }) => data['messages'])
  expect(messages).toEqual([[], compiled, compiled, whole, whole, whole])
  expect(recording.events[2]?.data['config']).toMatchObject({ provider: 'openai', model: 'gpt-4o' })
  expect(recording.events[4]?.data).toEqual({ type: 'text-delta', id: 'txt-0', textDelta: 'Hel' })
  const response = {
    streamType: 'text',
    text: 'Hello Ada',
    toolCalls: [],
    usage: modelUsage,
    cost: 0.00011,
    model: 'gpt-4o',
    provider: 'openai',
    finishReason: 'stop',
    documentLogUuid: recording.last['uuid'],
    input: compiled,
    output: [assistantMessage('Hello Ada')],
  }
  expect(recording.events[9]?.data).toMatchObject({ response, tokenUsage: modelUsage, finishReason: 'stop' })
  expect(recording.last).toMatchObject({
    type: 'chain-completed',
    response,
    toolCalls: [],
    toolRequests: [],
    finishReason: 'stop',
    tokenUsage: modelUsage,
    cost: response.cost,
  })
})

it('writes each frame as three fields and a blank line, with text of any content and length unchanged', async () => {
  // Characters of two UTF-16 units at an odd offset, so that a naive split of a long frame would fall within one.
  const odd = `line\nbreak \u2028 "quote" \\ data: x\n\n id: 7 ${'\u{1F600}'.repeat(60_000)}`
  bench.fake.enqueue({ deltas: [odd.slice(0, 9), odd.slice(9)] })
  const recording = await bench.stream('hello', { parameters: { name: odd.slice(0, 38) } })
  expect(textOf(recording) === odd).toBe(true)
  expect(JSON.stringify(recording.last['messages'])).toContain(JSON.stringify(assistantMessage(odd)))
  const frames = recording.text.split('\n\n').filter((frame) => frame !== '')
  for (const frame of frames) expect(frame).toMatch(/^event: (latitude|provider)-event\ndata: \{.*\}\nid: \d+$/)
})

it('makes a model call per step of a chain, and sums usage and cost', async () => {
  bench.fake.enqueue({ text: 'uno' }, { text: 'due' })
  const recording = await bench.stream('chain')
  const step = ['step-started', 'provider-started', 'provider-completed', 'step-completed']
  expect(recording.types.filter((type) => !type.startsWith('·'))).toEqual([
    'chain-started',
    ...step,
    ...step,
    'chain-completed',
  ])
  expect(recording.last).toMatchObject({
    response: { text: 'due', usage: modelUsage },
    tokenUsage: { totalTokens: 40 },
    messages: [userMessage('One'), assistantMessage('uno'), userMessage('Then uno'), assistantMessage('due')],
  })
})

it('ends the run on requested tools; all but legacy clients get an event before the end', async () => {
  const calls = [
    { id: 'same', name: 'get_weather', arguments: { city: 'Rome' } },
    { id: 'other', name: 'get_weather', arguments: { city: 'Oslo' } },
  ]
  bench.fake.enqueue({ toolCalls: calls })
  const recording = await bench.stream('tools')
  expect(recording.types.slice(-4)).toEqual([
    'provider-completed',
    'step-completed',
    'tools-requested',
    'chain-completed',
  ])
  const requested = recording.last['toolRequests'] as { id: string }[]
  expect(requested).toEqual([
    { id: expect.stringMatching(/^call_\w{24}$/), name: 'get_weather', arguments: { city: 'Rome' } },
    { id: expect.stringMatching(/^call_\w{24}$/), name: 'get_weather', arguments: { city: 'Oslo' } },
  ])
  expect(recording.last).toMatchObject({ finishReason: 'tool-calls', toolCalls: requested })
  const shown = recording.events.filter(({ data }) => data['type'] === 'tool-call').map(({ data }) => data)
  expect(shown[0]).toEqual({
    type: 'tool-call',
    toolCallId: requested[0]?.id,
    toolName: 'get_weather',
    args: { city: 'Rome' },
    _sourceData: { source: 'client' },
  })

  bench.fake.enqueue({ toolCalls: calls })
  const declared = await bench.stream('tools', {}, { 'x-latitude-sdk-version': '5.7.0' })
  expect(declared.types).not.toContain('tools-requested')
})

it('returns an invalid tool call to the model as an error', async () => {
  bench.fake.enqueue(
    { toolCalls: [{ id: 'a', name: 'get_weather', arguments: '{"city": ' }] },
    { toolCalls: [{ id: 'b', name: 'no_such_tool', arguments: {} }] },
    { text: 'Sunny.' },
  )
  const before = bench.fake.requests.length
  const recording = await bench.stream('tools')
  expect(recording.types.filter((type) => type === '·tool-error')).toHaveLength(2)
  expect(recording.last).toMatchObject({ type: 'chain-completed', toolRequests: [], finishReason: 'stop' })
  expect(recording.last['tokenUsage']).toMatchObject({ totalTokens: 60 })
  const third = bench.fake.requests[before + 2]?.body['messages'] as { role: string }[]
  expect(third.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool'])
})

it('sends legacy clients neither reasoning nor the role developer in messages', async () => {
  bench.fake.setDefault({ reasoning: 'Let me think.', text: 'Done.' })
  const messages = [{ role: 'developer', content: 'Be kind.' }]
  const body = { parameters: { name: 'Ada' }, messages }
  const whole = await bench.stream('hello', body)
  const declared = await bench.stream('hello', body, { 'x-latitude-sdk-version': '5.10.0' })
  bench.fake.setDefault({ text: 'Hello from the fake provider.' })

  const roles = (recording: typeof whole) => (recording.last['messages'] as { role: string }[]).map(({ role }) => role)
  expect(roles(whole)).toEqual(['system', 'user', 'developer', 'assistant'])
  expect(roles(declared)).toEqual(['system', 'user', 'system', 'assistant'])
  expect((whole.last['messages'] as { content: unknown[] }[]).at(-1)?.content).toHaveLength(2)
  expect((declared.last['messages'] as unknown[]).at(-1)).toEqual(assistantMessage('Done.'))
  expect(declared.text).not.toContain('"type":"reasoning"')
  expect(declared.types).toContain('·reasoning-delta')
  const { uuid } = declared.last
  expect(JSON.stringify(await bench.conversation(uuid))).toContain('"type":"reasoning"')
})
