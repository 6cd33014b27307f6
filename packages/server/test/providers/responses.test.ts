import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { plainChunks, streamChunks } from '../../src/adapters/providers/answer/stream.ts'
import { ResponseReader } from '../../src/adapters/providers/openai/responses/answer.ts'
import { responsesBody } from '../../src/adapters/providers/openai/responses/request.ts'
import { providerLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { ModelChunk, TakeChunks } from '../../src/features/providers/model-driver.ts'
import type { Message, MessagePart } from '../../src/features/templates/message.ts'
import { chunksOf, modelRequest, providerAt, serviceOf, type TestRequest, textOf } from '../support/model-request.ts'

type Json = Record<string, unknown>

const provider = providerAt(null, { name: 'Main', configuration: { endpoint: 'responses' } })
const body = (more: Partial<TestRequest>) => {
  const request = modelRequest(null, { provider, stream: false, ...more })
  return responsesBody(serviceOf(request.provider), request) as unknown as Json
}
const of = (role: Message['role'], ...content: MessagePart[]): Message => ({ role, content })
const text = (value: string): MessagePart => ({ type: 'text', text: value })
const inputOf = (messages: Message[], more: Partial<TestRequest> = {}) => body({ messages, ...more })['input']

describe('input items', () => {
  it('contain roles and texts', () => {
    const messages = [
      of('developer', text('d')),
      of('system', text('s')),
      of('user', text('u')),
      of('assistant', text('a')),
    ]
    const items = [
      { type: 'message', role: 'developer', content: 'd' },
      { type: 'message', role: 'system', content: 's' },
      { type: 'message', role: 'user', content: 'u' },
      { type: 'message', role: 'assistant', content: 'a' },
    ]
    expect(inputOf(messages)).toEqual(items)
    const custom = providerAt('http://models.test/v1', { kind: 'custom' })
    expect(inputOf(messages, { provider: custom })).toEqual([{ ...items[0], role: 'system' }, ...items.slice(1)])
  })

  it('contain images and files by URL or content', () => {
    const parts: MessagePart[] = [
      { type: 'image', image: 'https://example.com/a.png', detail: 'low' },
      { type: 'image', image: '/9j/4AAQ' },
      { type: 'file', file: 'https://example.com/a.pdf', mimeType: 'application/pdf' },
      { type: 'file', file: 'JVBERi0=', mimeType: 'application/pdf', name: 'a.pdf' },
    ]
    expect(inputOf([of('user', ...parts)])).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
          { type: 'input_image', image_url: 'data:image/jpeg;base64,/9j/4AAQ', detail: 'auto' },
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
        ],
      },
    ])
  })

  it.each<[MessagePart, Message['role'], string]>([
    [{ type: 'file', file: 'AAAA', mimeType: 'audio/wav' }, 'user', 'audio file parts'],
    [{ type: 'image', image: 'AAAA' }, 'system', 'image parts in system messages'],
  ])('refuse unsupported parts: %j in %s', (part, role, words) => {
    expect(() => inputOf([of(role, part)])).toThrow(`Provider 'Main' takes no ${words}`)
  })

  it('contain calls and results, but only reasoning from the same provider key', () => {
    const call: MessagePart = { type: 'tool-call', toolCallId: 'c1', toolName: 'f', args: { x: 1 } }
    const thought = (maker: string): MessagePart => ({
      type: 'reasoning',
      text: 'hm',
      id: 'rs_1',
      signature: 'sealed',
      provider: maker,
    })
    const history = [
      of('assistant', thought('Main'), thought('Other'), { type: 'reasoning', text: 'x' }, text(''), call),
      of('tool', { type: 'tool-result', toolCallId: 'c1', toolName: 'f', result: [1] }),
    ]
    expect(inputOf(history)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sealed' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"x":1}' },
      { type: 'function_call_output', call_id: 'c1', output: '[1]' },
    ])
  })
})

describe('body', () => {
  it('renames settings and disables storage', () => {
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      seed: 1,
      stop: 'x',
      maxTokens: 50,
      reasoningEffort: 'low',
      reasoningSummary: 'auto',
      text: { verbosity: 'low' },
      service_tier: 'flex',
    }
    const { input: _input, ...rest } = body({ settings, stream: true })
    expect(rest).toEqual({
      model: 'gpt-4o',
      stream: true,
      store: false,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      text: { verbosity: 'low' },
      service_tier: 'flex',
    })
    expect(body({})).not.toHaveProperty('include')
    expect(body({ settings: { store: true } })).toMatchObject({ store: true })
  })

  it('contains tools, tool choice and schemas, strict only where possible', () => {
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const tools = [{ name: 'f', description: 'F', parameters: closed }]
    expect(body({ tools, settings: { tool_choice: { type: 'function', function: { name: 'f' } } } })).toMatchObject({
      tools: [{ type: 'function', name: 'f', description: 'F', parameters: closed, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
    })
    const format = { type: 'json_schema', name: 'answer', schema: closed, strict: true }
    expect(body({ schema: closed })).toMatchObject({ text: { format } })
    expect(body({ schema: { type: 'array' } })).toMatchObject({ text: { format: { strict: false } } })
  })
})

const frames = (...events: Json[]) =>
  Buffer.from(events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
const read = (...pieces: Buffer[]) =>
  chunksOf((take: TakeChunks) =>
    streamChunks(Readable.from(pieces), new ResponseReader(serviceOf(provider)), providerLimits, take),
  )
const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' }
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_9', name: 'f', arguments: '{"stadt":"Zürich"}' }
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}
const message = {
  type: 'message',
  id: 'msg_1',
  content: [
    {
      type: 'output_text',
      text: 'Grüße 👋🏽',
      annotations: [{ type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 1 }],
    },
  ],
}
const recorded: Json[] = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Erst' },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 1 },
  { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 1, delta: 'dann' },
  { type: 'response.output_item.done', output_index: 0, item: thought },
  { type: 'response.content_part.added', item_id: 'msg_1', part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Grüße ' },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: '👋🏽' },
  { type: 'response.output_text.annotation.added', item_id: 'msg_1', annotation: message.content[0]?.annotations[0] },
  { type: 'response.output_text.done', item_id: 'msg_1', text: 'Grüße 👋🏽' },
  { type: 'response.output_item.done', output_index: 1, item: message },
  { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"stadt":"Zü' },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: 'rich"}' },
  { type: 'response.function_call_arguments.done', item_id: 'fc_1', arguments: call.arguments },
  { type: 'response.output_item.done', output_index: 2, item: call },
  { type: 'response.completed', response: { status: 'completed', output: [thought, message, call], usage } },
]
const source: ModelChunk = { type: 'source', payload: { sourceType: 'url', url: 'https://a.test', title: 'A' } }
const tail: ModelChunk[] = [
  { type: 'tool-call', id: 'call_9', toolName: 'f', args: { stadt: 'Zürich' }, rawArgs: call.arguments },
  {
    type: 'finish',
    finishReason: 'tool-calls',
    cacheWriteTokens: 10,
    usage: {
      inputTokens: 100,
      promptTokens: 100,
      outputTokens: 20,
      completionTokens: 20,
      totalTokens: 120,
      reasoningTokens: 5,
      cachedInputTokens: 60,
    },
  },
]
const whole: ModelChunk[] = [
  { type: 'reasoning-delta', text: 'Erst', id: 'rs_1' },
  { type: 'reasoning-delta', text: '\n\n', id: 'rs_1' },
  { type: 'reasoning-delta', text: 'dann', id: 'rs_1' },
  { type: 'reasoning-end', id: 'rs_1', seal: { signature: 'gAAAAA', provider: 'Main' } },
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👋🏽' },
  source,
  { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
  { type: 'tool-input-delta', id: 'call_9', delta: '{"stadt":"Zü' },
  { type: 'tool-input-delta', id: 'call_9', delta: 'rich"}' },
  ...tail,
]

describe('streamed answer', () => {
  it('is the same for every split', async () => {
    const bytes = frames(...recorded)
    expect(await read(bytes)).toEqual(whole)
    for (let at = 1; at < bytes.length; at += 3)
      expect(await read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(whole)
    expect(await read(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole)
  })

  it('fails without its last frame', async () => {
    await expect(read(frames(...recorded.slice(0, -1)))).rejects.toMatchObject({ kind: 'malformed' })
  })

  it.each([
    [{ status: 'completed' }, 'stop'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'content-filter'],
    [{ status: 'incomplete' }, 'other'],
  ])('finishes %j with %s', async (response, finishReason) => {
    expect(await read(frames({ type: `response.${response.status}`, response }))).toMatchObject([{ finishReason }])
  })

  it('reports refusals', async () => {
    const refusal = { type: 'response.refusal.delta', item_id: 'msg_1', delta: 'I cannot.' }
    expect(textOf(await read(frames(refusal, ...recorded.slice(-1))))).toBe('I cannot.')
  })

  it.each([
    [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'Oops' } } }, { status: 500 }],
    [
      { type: 'error', code: 'rate_limit_exceeded', message: 'Oops' },
      { kind: 'rate_limited', status: 429 },
    ],
    [
      { type: 'error', error: { code: null, message: 'Oops' } },
      { kind: 'unavailable', status: undefined },
    ],
  ])('fails for %j', async (frame, expected) => {
    await expect(read(frames(frame))).rejects.toMatchObject({ ...expected, providerMessage: 'Oops' })
  })
})

describe('plain answer', () => {
  it('yields the same parts as the streamed response', () => {
    const summary = [
      { type: 'summary_text', text: 'Erst' },
      { type: 'summary_text', text: 'dann' },
    ]
    const response = { status: 'completed', output: [{ ...thought, summary }, message, call], usage }
    expect(plainChunks(JSON.stringify(response), new ResponseReader(serviceOf(provider)))).toEqual([
      { type: 'reasoning-delta', text: 'Erst\n\ndann', id: 'rs_1' },
      whole[3],
      { type: 'text-delta', text: 'Grüße 👋🏽' },
      source,
      { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
      { type: 'tool-input-delta', id: 'call_9', delta: call.arguments },
      ...tail,
    ])
  })

  it('fails if it reports a failure', () => {
    const body = JSON.stringify({ status: 'failed', error: { code: 'server_error', message: 'Oops' }, output: [] })
    expect(() => plainChunks(body, new ResponseReader(serviceOf(provider)))).toThrow('ended its response with an error')
  })
})
