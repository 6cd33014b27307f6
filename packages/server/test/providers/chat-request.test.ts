import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chatBody } from '../../src/adapters/providers/openai/chat/request.ts'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import { meetsStrict } from '../../src/adapters/providers/request/schema.ts'
import { requestHeaders } from '../../src/adapters/providers/request/settings.ts'
import type { Message, MessagePart } from '../../src/features/templates/message.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { callOf, chunksOf, modelRequest, providerAt, serviceOf, type TestRequest } from '../support/model-request.ts'

const body = (more: Partial<TestRequest>) => {
  const request = modelRequest(null, { stream: false, ...more })
  return chatBody(serviceOf(request.provider), request) as unknown as Record<string, unknown>
}
const at = (kind: string, url: string | null = 'http://models.test/v1') => providerAt(url, { kind })
const user = (...content: MessagePart[]): Message => ({ role: 'user', content })
const text = (value: string): MessagePart => ({ type: 'text', text: value })
const messagesOf = (messages: Message[], kind = 'openai') => body({ messages, provider: at(kind) })['messages']

describe('settings', () => {
  it('renames known settings, passes unknown ones unchanged, and drops stet’s own', () => {
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      stopSequences: ['x'],
      reasoningEffort: 'low',
      seed: 1,
      logit_bias: { 1: 2 },
      top_logprobs: 3,
      provider: 'OpenAI',
      maxSteps: 3,
      maxRetries: 1,
      type: 'agent',
      name: 'n',
      tools: [1],
      schema: {},
      cacheControl: {},
      messages: [],
      headers: {},
    }
    expect(body({ settings })).toEqual({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
      top_p: 0.9,
      stop: ['x'],
      reasoning_effort: 'low',
      seed: 1,
      logit_bias: { 1: 2 },
      top_logprobs: 3,
    })
  })

  it("uses the service's name for the output limit", () => {
    expect(body({ settings: { maxTokens: 5 } })).toMatchObject({ max_completion_tokens: 5 })
    expect(body({ settings: { maxOutputTokens: 6 }, provider: at('custom') })).toMatchObject({ max_tokens: 6 })
  })

  it('requests usage on streams, except from Mistral, which refuses that option', () => {
    expect(body({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(body({ stream: true, provider: at('mistral') })).not.toHaveProperty('stream_options')
  })

  it('includes providerOptions only for their kind', () => {
    const settings = { providerOptions: { openai: { store: false }, groq: { service_tier: 'flex' } } }
    expect(body({ settings })).toMatchObject({ store: false })
    expect(body({ settings })).not.toHaveProperty('service_tier')
  })
})

describe('messages', () => {
  it('keeps known roles and converts unknown ones', () => {
    const messages: Message[] = [{ role: 'developer', content: [text('d')] }, user(text('u'))]
    expect(messagesOf(messages)).toMatchObject([{ role: 'developer' }, { role: 'user' }])
    expect(messagesOf(messages, 'custom')).toMatchObject([{ role: 'system' }, { role: 'user' }])
    expect(messagesOf([{ role: 'system', content: [text('s')] }], 'perplexity')).toMatchObject([{ role: 'user' }])
  })

  it('sends images as URL, data URL or base64', () => {
    const images: MessagePart[] = [
      { type: 'image', image: 'https://example.com/a.png' },
      { type: 'image', image: 'data:image/png;base64,AAAA' },
      { type: 'image', image: '/9j/4AAQ' },
      { type: 'image', image: 'AAAA', mimeType: 'image/webp' },
    ]
    const urls = [
      'https://example.com/a.png',
      'data:image/png;base64,AAAA',
      'data:image/jpeg;base64,/9j/4AAQ',
      'data:image/webp;base64,AAAA',
    ]
    expect(messagesOf([user(...images)])).toEqual([
      { role: 'user', content: urls.map((url) => ({ type: 'image_url', image_url: { url } })) },
    ])
  })

  it('sends files by content, and names a part that cannot be sent', () => {
    expect(messagesOf([user({ type: 'file', file: 'AAAA', mimeType: 'application/pdf', name: 'a.pdf' })])).toEqual([
      {
        role: 'user',
        content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } }],
      },
    ])
    expect(() =>
      messagesOf([user({ type: 'file', file: 'https://example.com/a.pdf', mimeType: 'application/pdf' })]),
    ).toThrow("Provider 'OpenAI' takes no file parts by URL")
  })

  it('sends tool calls and results without reasoning', () => {
    const history: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'f', args: { x: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'a', toolName: 'f', result: { y: 2 } },
          { type: 'tool-result', toolCallId: 'b', toolName: 'g', result: 'text' },
        ],
      },
      { role: 'assistant', content: [text('done'), { type: 'reasoning', text: 'hm' }] },
    ]
    expect(messagesOf(history)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: '{"y":2}' },
      { role: 'tool', tool_call_id: 'b', content: 'text' },
      { role: 'assistant', content: 'done' },
    ])
  })
})

describe('structured answers', () => {
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }

  it('are strict only for closed schemas with all keys required', () => {
    expect(body({ schema: closed })['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: closed, strict: true },
    })
    const open = { ...closed, required: [] }
    expect(body({ schema: open })['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: open },
    })
  })

  it.each([
    [{ type: 'array', items: closed }],
    [{ ...closed, properties: { a: { type: 'object', properties: {} } } }],
    [{ ...closed, properties: { a: { type: 'array' } } }],
    [{ ...closed, properties: { a: {} } }],
    [{ ...closed, properties: { a: { oneOf: [{ type: 'string' }] } } }],
    [{ ...closed, $defs: { b: { type: 'object' } } }],
  ])('are not strict: %j', (schema) => {
    expect(meetsStrict(schema)).toBe(false)
  })

  it('use JSON mode and a system text if the service has no schema mode', () => {
    const sent = body({ schema: closed, provider: at('deepseek') })
    expect(sent).toMatchObject({
      response_format: { type: 'json_object' },
      messages: [{ role: 'system' }, { role: 'user' }],
    })
  })
})

describe('headers', () => {
  let fake: FakeProvider
  const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
  beforeAll(async () => {
    fake = await fakeProvider()
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await drivers.close()
    await fake.close()
  })

  it('combines those of stet, the key and the prompt; none reveals the process or the machine', async () => {
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'x-secret: of the process')
    vi.stubEnv('OPENAI_ORG_ID', 'of the process')
    const provider = providerAt(fake.url, { configuration: { headers: { 'X-Entry': '1' }, organization: 'org' } })
    const request = modelRequest(fake.url, { provider, settings: { headers: { 'X-Prompt': '2' } } })
    await chunksOf(callOf(drivers.driverFor(provider), request))
    const {
      'content-length': _length,
      host: _host,
      connection: _connection,
      ...headers
    } = fake.requests[0]?.headers ?? {}
    expect(headers).toEqual({
      'user-agent': 'stet',
      'openai-organization': 'org',
      'x-entry': '1',
      'x-prompt': '2',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      authorization: 'Bearer test-token-123',
    })
  })

  it.each(['Authorization', 'HOST', 'content-length', 'Transfer-Encoding', 'connection', 'bad name', 'x\r\ny'])(
    'refuses to set %j',
    (name) => {
      expect(() =>
        requestHeaders(providerAt(null), modelRequest(null, { settings: { headers: { [name]: 'x' } } }), {}),
      ).toThrow('cannot be set')
    },
  )

  it('refuses a line break', () => {
    expect(() =>
      requestHeaders(providerAt(null), modelRequest(null, { settings: { headers: { 'x-a': 'b\r\nc: d' } } }), {}),
    ).toThrow('cannot be set')
  })
})

describe('kinds', () => {
  const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
  afterAll(() => drivers.close())

  it.each(['google_vertex', 'anthropic_vertex', 'amazon_bedrock', 'custom'])('requires a url for %s', (kind) => {
    expect(() => drivers.driverFor(at(kind, null))).toThrow(`Provider kind '${kind}' needs an OpenAI-compatible url`)
    expect(drivers.driverFor(at(kind))).toBeDefined()
  })

  it('sends Responses requests only to services with that endpoint', () => {
    const configuration = { endpoint: 'responses' }
    for (const kind of ['openai', 'custom']) expect(drivers.driverFor({ ...at(kind), configuration })).toBeDefined()
    expect(() => drivers.driverFor({ ...at('groq'), configuration })).toThrow("kind 'groq' has no endpoint 'responses'")
  })
})
