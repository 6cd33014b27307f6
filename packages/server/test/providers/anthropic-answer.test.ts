import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { plainChunks, streamChunks } from '../../src/adapters/providers/answer/stream.ts'
import { MessageReader } from '../../src/adapters/providers/anthropic/answer.ts'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import { providerLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { ModelChunk, TakeChunks } from '../../src/features/providers/model-driver.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { callOf, chunksOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'

const provider = providerAt(null, { name: 'Claude', kind: 'anthropic' })
type Json = Record<string, unknown>

const frames = (...events: Json[]) =>
  Buffer.from(events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
const start = (usage: Json = { input_tokens: 7, output_tokens: 1 }): Json => ({
  type: 'message_start',
  message: { id: 'msg_01', type: 'message', role: 'assistant', content: [], model: 'claude-sonnet-4', usage },
})
const block = (index: number, content_block: Json, ...deltas: Json[]): Json[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const end = (stop_reason: string, usage: Json = { output_tokens: 5 }): Json[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const read = (bytes: Buffer[], schema?: Json) =>
  chunksOf((take: TakeChunks) =>
    streamChunks(Readable.from(bytes), new MessageReader(provider, schema), providerLimits, take),
  )
const said = (...events: Json[]) => read([frames(...events)])
const input = (partial_json: string): Json => ({ type: 'input_json_delta', partial_json })
const speech = (text: string): Json => ({ type: 'text_delta', text })

const recorded = [
  start({ input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60, output_tokens: 2 }),
  { type: 'ping' },
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Die Nutzerin grüßt' },
    { type: 'signature_delta', signature: 'EqQB' },
    { type: 'signature_delta', signature: 'CgIYAg==' },
  ),
  ...block(1, { type: 'redacted_thinking', data: 'EmwKAhgB' }),
  ...block(2, { type: 'text', text: '' }, speech('Grüße 👋🏽 '), speech('\ud83d'), speech('\ude00.')),
  ...block(
    3,
    { type: 'tool_use', id: 'toolu_01', name: 'f', input: {} },
    input(''),
    input('{"stadt":"Zü'),
    input('rich"}'),
  ),
  ...end('tool_use', { output_tokens: 20, output_tokens_details: { thinking_tokens: 6 } }),
]
const whole: ModelChunk[] = [
  { type: 'reasoning-delta', text: 'Die Nutzerin grüßt' },
  { type: 'reasoning-end', seal: { signature: 'EqQBCgIYAg==', provider: 'Claude' } },
  { type: 'redacted-reasoning', data: 'EmwKAhgB', provider: 'Claude' },
  { type: 'text-delta', text: 'Grüße 👋🏽 ' },
  { type: 'text-delta', text: '😀.' },
  { type: 'tool-input-start', id: 'toolu_01', toolName: 'f' },
  { type: 'tool-input-delta', id: 'toolu_01', delta: '{"stadt":"Zü' },
  { type: 'tool-input-delta', id: 'toolu_01', delta: 'rich"}' },
  { type: 'tool-call', id: 'toolu_01', toolName: 'f', args: { stadt: 'Zürich' }, rawArgs: '{"stadt":"Zürich"}' },
  {
    type: 'finish',
    finishReason: 'tool-calls',
    cacheWriteTokens: 30,
    usage: {
      inputTokens: 100,
      promptTokens: 100,
      outputTokens: 20,
      completionTokens: 20,
      totalTokens: 120,
      reasoningTokens: 6,
      cachedInputTokens: 60,
    },
  },
]

describe('streamed message', () => {
  it('contains all parts, and counts cache reads and writes once', async () => {
    expect(await said(...recorded)).toEqual(whole)
  })

  it('is the same for every split', async () => {
    const bytes = frames(...recorded)
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
    }
    expect(await read(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole)
  })

  it('fails if it is cut off before its stop reason', async () => {
    const bytes = frames(...recorded)
    const last = bytes.indexOf('event: message_delta')
    for (let at = 0; at < last; at += 13)
      await expect(read([bytes.subarray(0, at)])).rejects.toMatchObject({ kind: 'malformed' })
  })

  it('replaces earlier token counts with later ones', async () => {
    const usage = { input_tokens: 11, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 9 }
    const chunks = await said(
      start({ input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 }),
      ...end('end_turn', usage),
    )
    expect(chunks).toMatchObject([{ usage: { inputTokens: 15, cachedInputTokens: 4, outputTokens: 9 } }])
    expect(chunks[0]).not.toHaveProperty('cacheWriteTokens')
  })

  it('ignores unknown blocks and frames', async () => {
    const chunks = await said(
      start(),
      ...block(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, input('{"query":"x"}')),
      { type: 'tomorrow', index: 9 },
      ...block(
        1,
        { type: 'text', text: 'hi' },
        { type: 'citations_delta', citation: { url: 'https://a.test', title: 'A' } },
      ),
      ...end('end_turn'),
    )
    expect(chunks).toMatchObject([
      { type: 'text-delta', text: 'hi' },
      { type: 'source', payload: { sourceType: 'url', url: 'https://a.test', title: 'A' } },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('reports arguments that are not an object', async () => {
    const chunks = await said(
      start(),
      ...block(0, { type: 'tool_use', id: 't', name: 'f' }, input('{"a":')),
      ...end('tool_use'),
    )
    expect(chunks.at(-2)).toEqual({ type: 'tool-call', id: 't', toolName: 'f', args: undefined, rawArgs: '{"a":' })
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'tool-calls' })
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content-filter'],
    ['pause_turn', 'other'],
  ])('maps stop reason %s to %s', async (reason, finishReason) => {
    expect(await said(start(), ...end(reason))).toMatchObject([{ finishReason }])
  })

  it.each([
    ['overloaded_error', { kind: 'unavailable', status: 529 }],
    ['rate_limit_error', { kind: 'rate_limited', status: 429 }],
    ['invalid_request_error', { kind: 'rejected', status: 400 }],
    ['another_error', { kind: 'unavailable', status: undefined }],
  ])('reports an error frame: %s', async (type, expected) => {
    const seen: ModelChunk[] = []
    const bytes = frames(start(), ...block(0, { type: 'text', text: 'a' }), {
      type: 'error',
      error: { type, message: 'Sorry' },
    })
    const stream = (take: TakeChunks) =>
      streamChunks(Readable.from([bytes]), new MessageReader(provider, undefined), providerLimits, take)
    await expect(chunksOf(stream, seen)).rejects.toMatchObject({ ...expected, providerMessage: 'Sorry' })
    expect(textOf(seen)).toBe('a')
  })
})

describe('plain message', () => {
  it('yields the same chunks', () => {
    const body = {
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 3 },
    }
    expect(plainChunks(JSON.stringify(body), new MessageReader(provider, undefined))).toMatchObject([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { signature: 'sig' } },
      { type: 'text-delta', text: 'hi' },
      { type: 'tool-input-start' },
      { type: 'tool-input-delta', delta: '{"a":1}' },
      { type: 'tool-call', args: { a: 1 } },
      { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 3, usage: { inputTokens: 4, outputTokens: 2 } },
    ])
  })

  it.each(['{"type":"message"}', '{', 'null'])('refuses %s', (body) => {
    expect(() => plainChunks(body, new MessageReader(provider, undefined))).toThrow('cannot be read')
  })
})

describe('structured answer', () => {
  const schema = { type: 'object', properties: {} }
  const answer = (...pieces: string[]) =>
    block(1, { type: 'tool_use', id: 't', name: 'structured_answer', input: {} }, ...pieces.map(input))

  it('is returned as text, without the text around it', async () => {
    const events = [
      start(),
      ...block(0, { type: 'text', text: '' }, speech('Here:')),
      ...answer('{"a"', ':1}'),
      ...end('tool_use'),
    ]
    const chunks = await read([frames(...events)], schema)
    expect(chunks.map(({ type }) => type)).toEqual(['text-delta', 'text-delta', 'finish'])
    expect(textOf(chunks)).toBe('{"a":1}')
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'stop' })
  })

  it('is unwrapped if the value is not an object', async () => {
    const events = [start(), ...answer('{"answer":[1,', '2]}'), ...end('tool_use')]
    expect(textOf(await read([frames(...events)], { type: 'array' }))).toBe('[1,2]')
  })

  it('leaves the text unchanged if it is missing', async () => {
    const events = [start(), ...block(0, { type: 'text', text: '' }, speech('{"a":'), speech('1}')), ...end('end_turn')]
    expect(textOf(await read([frames(...events)], schema))).toBe('{"a":1}')
  })

  it('leaves calls to the prompt’s tools unchanged', async () => {
    const call = block(0, { type: 'tool_use', id: 't', name: 'f', input: {} }, input('{}'))
    expect(await read([frames(start(), ...call, ...end('tool_use'))], schema)).toMatchObject([
      { type: 'tool-input-start' },
      { type: 'tool-input-delta' },
      { type: 'tool-call', toolName: 'f' },
      { type: 'finish', finishReason: 'tool-calls' },
    ])
  })
})

describe('request headers', () => {
  const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
  afterAll(() => drivers.close())

  it('contain key and version, and the headers of provider key and prompt', async () => {
    const fake = await fakeProvider()
    const configuration = { headers: { 'Anthropic-Beta': 'context-1m' } }
    const entry = providerAt(fake.url, { kind: 'anthropic', configuration })
    const request = modelRequest(null, {
      provider: entry,
      settings: { headers: { 'anthropic-version': '2030-01-01' } },
    })
    await chunksOf(callOf(drivers.driverFor(entry), request))
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = fake.requests[0]?.headers ?? {}
    await fake.close()
    expect(headers).toEqual({
      'user-agent': 'stet',
      'anthropic-version': '2030-01-01',
      'anthropic-beta': 'context-1m',
      'x-api-key': 'test-token-123',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
    })
    expect(fake.requests[0]?.path).toBe('/v1/messages')
  })
})
