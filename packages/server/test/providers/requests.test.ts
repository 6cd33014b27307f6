/** Each protocol's translation of requests: one row per rule. `wires` has the requests that all kinds share. */

import type { Message, MessagePart } from '@stet/contract/vocabulary'
import { afterAll, describe, expect, it } from 'vitest'
import { anthropicBody, messagesUrl } from '../../src/adapters/providers/anthropic/driver.ts'
import { chatBody } from '../../src/adapters/providers/openai/chat/request.ts'
import { openaiService } from '../../src/adapters/providers/openai/kinds.ts'
import { responsesBody } from '../../src/adapters/providers/openai/responses/request.ts'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import { meetsStrict, requestHeaders } from '../../src/adapters/providers/request/body.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { modelRequest, providerAt, serviceOf, type TestRequest } from '../support/model-request.ts'
import { closedSchema, type Json } from './wires/shape.ts'

const text = (value: string, more: Json = {}): MessagePart => ({ type: 'text', text: value, ...more })
const of = (role: Message['role'], ...content: MessagePart[]): Message => ({ role, content })
/** As they are sent. */
const words = (...texts: string[]) => texts.map((each) => ({ type: 'text', text: each }))
const turn = (role: string, content: unknown, more: Json = {}) => ({ role, content, ...more })
const blocks = (role: string, ...content: Json[]) => ({ role, content })
const user = (...content: MessagePart[]) => of('user', ...content)
const settings = (given: Json) => ({ settings: given })
const messages = (...given: Message[]) => ({ messages: given })
const call = (toolCallId: string): MessagePart => ({ type: 'tool-call', toolCallId, toolName: 'f', args: { x: 1 } })
const result = (toolCallId: string, value: unknown = { y: 2 }, more: Json = {}): MessagePart => ({
  ...{ type: 'tool-result', toolCallId, toolName: 'f', result: value },
  ...more,
})
const thought = (maker: string): MessagePart => {
  return { type: 'reasoning', text: 'hm', id: 'rs_1', signature: 'sealed', provider: maker }
}
const images: MessagePart[] = [
  { type: 'image', image: 'data:image/webp;base64,AAAA' },
  { type: 'image', image: '/9j/4AAQ' },
  { type: 'image', image: 'AAAA', mimeType: 'image/gif' },
]
const imageInSystem = messages(of('system', { type: 'image', image: 'AAAA' }), user(text('x')))
const tools = [{ name: 'f', description: 'F', parameters: closedSchema }]
const strictTools = [
  { name: 'f', description: 'F', parameters: closedSchema, strict: true },
  { name: 'open', parameters: { type: 'object' }, strict: true },
]

function bodyOf(protocol: string, more: Partial<TestRequest>): Json {
  const kind = protocol === 'responses' ? 'openai' : protocol
  const request = modelRequest(null, { provider: providerAt(null, { name: 'Main', kind }), stream: false, ...more })
  const service = () => serviceOf(request.provider)
  if (protocol === 'anthropic') return anthropicBody(request.provider, request) as unknown as Json
  return (protocol === 'responses'
    ? responsesBody(service(), request)
    : chatBody(service(), request)) as unknown as Json
}

/** Only the expected keys of the body are compared; undefined means that a key is not sent. */
type Row = [kind: string, rule: string, request: Partial<TestRequest>, expected: Json | Error]

const own = {
  ...{ provider: 'OpenAI', maxSteps: 3, maxRetries: 1, type: 'agent', name: 'n', tools: [1], schema: {} },
  ...{ cacheControl: {}, messages: [], headers: {} },
}
const functionCall = (id: string, json = '{"x":1}') => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: json },
})
const signed = { ...call('c1'), signature: 'sig', provider: 'Main' }
const afterCall = (first: MessagePart[], ...last: MessagePart[]) =>
  messages(of('assistant', ...first, call('c1')), of('tool', result('c1', 'text')), of('assistant', ...last, text('x')))
const imageUrls = (...urls: string[]) => urls.map((url) => ({ type: 'image_url', image_url: { url } }))

const chatRows: Row[] = [
  [
    'openai',
    'drops stet’s own settings and other kinds’ options, and passes unknown ones unchanged',
    settings({
      ...own,
      ...{ stopSequences: ['x'], logit_bias: { 1: 2 }, top_logprobs: 3 },
      providerOptions: { openai: { store: false }, groq: { service_tier: 'flex' } },
    }),
    {
      ...Object.fromEntries([...Object.keys(own), 'service_tier', 'providerOptions'].map((key) => [key, undefined])),
      messages: [turn('user', 'Hi')],
      ...{ model: 'gpt-4o', stop: ['x'], logit_bias: { 1: 2 }, top_logprobs: 3, store: false },
    },
  ],
  ['openai', "the service's name for the output limit", settings({ maxTokens: 5 }), { max_completion_tokens: 5 }],
  ['custom', 'the other name for the output limit', settings({ maxOutputTokens: 6 }), { max_tokens: 6 }],
  [
    'google',
    'thinking in its own place',
    settings({ thinkingConfig: { thinkingBudget: 5, includeThoughts: true } }),
    { extra_body: { google: { thinking_config: { thinking_budget: 5, include_thoughts: true } } } },
  ],
  [
    'groq',
    'a chosen tool',
    { tools, ...settings({ toolChoice: { type: 'tool', toolName: 'f' } }) },
    { tool_choice: { type: 'function', function: { name: 'f' } } },
  ],
  ['groq', 'no tool choice without tools', settings({ toolChoice: 'required' }), { tool_choice: undefined }],
  [
    'google',
    'a user message in every request',
    messages(of('system', text('a')), of('system', text('b'))),
    { messages: [turn('system', 'a'), turn('user', 'b')] },
  ],
  [
    'perplexity',
    'a user message at the end',
    messages(of('system', text('s')), user(text('u')), of('system', text('t')), of('assistant', text('a'))),
    { messages: [turn('system', 's'), turn('user', 'u\nt'), turn('user', 'a')] },
  ],
  [
    'mistral',
    'the mark of a prefix',
    messages(user(text('u')), of('assistant', text('{'))),
    { messages: [turn('user', 'u'), turn('assistant', '{', { prefix: true })] },
  ],
  [
    'openai',
    'names of users',
    messages({ ...user(text('u')), name: 'Ann' }),
    { messages: [turn('user', 'u', { name: 'Ann' })] },
  ],
  ['groq', 'no names of users', messages({ ...user(text('u')), name: 'Ann' }), { messages: [turn('user', 'u')] }],
  [
    'openai',
    'images as data URLs, of the type that their bytes show',
    messages(user(...images)),
    {
      messages: [
        {
          role: 'user',
          content: imageUrls(
            'data:image/webp;base64,AAAA',
            'data:image/jpeg;base64,/9j/4AAQ',
            'data:image/gif;base64,AAAA',
          ),
        },
      ],
    },
  ],
  [
    'openai',
    'calls and results without reasoning, texts unchanged',
    afterCall([thought('Main')], thought('Main')),
    {
      messages: [
        turn('assistant', null, { tool_calls: [functionCall('c1')] }),
        { role: 'tool', tool_call_id: 'c1', content: 'text' },
        turn('assistant', 'x'),
      ],
    },
  ],
  [
    'mistral',
    'ids of nine characters unchanged',
    messages(of('tool', result('abcDEF123', 'x'))),
    { messages: [{ role: 'tool', tool_call_id: 'abcDEF123', content: 'x' }] },
  ],
  [
    'google',
    'no signature of another provider key',
    messages(of('assistant', { ...signed, provider: 'Other' })),
    { messages: [turn('assistant', null, { tool_calls: [functionCall('c1')] })] },
  ],
  [
    'custom',
    "a gateway's encrypted reasoning",
    messages(of('assistant', { ...thought('Main'), signature: '[{"data":"AAAA"}]' }, call('c1'))),
    {
      messages: [turn('assistant', null, { reasoning_details: [{ data: 'AAAA' }], tool_calls: [functionCall('c1')] })],
    },
  ],
  [
    'custom',
    'no encrypted reasoning of another provider key',
    messages(of('assistant', { ...thought('Other'), signature: '[{"data":"AAAA"}]' }, call('c1'))),
    { messages: [turn('assistant', null, { tool_calls: [functionCall('c1')] })] },
  ],
  [
    'deepseek',
    'reasoning before a call only',
    afterCall([thought('Main')], thought('Main')),
    {
      messages: [
        turn('assistant', null, { reasoning_content: 'hm', tool_calls: [functionCall('c1')] }),
        { role: 'tool', tool_call_id: 'c1', content: 'text' },
        turn('assistant', 'x'),
      ],
    },
  ],
  [
    'openai',
    'a strict tool, unless strict mode would refuse its schema',
    { tools: strictTools },
    {
      tools: [
        { type: 'function', function: { ...tools[0], strict: true } },
        { type: 'function', function: { name: 'open', parameters: { type: 'object' } } },
      ],
    },
  ],
  [
    'openai',
    'a schema that is not strict',
    { schema: { ...closedSchema, required: [] } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { ...closedSchema, required: [] } },
      },
    },
  ],
]

const responsesRows: Row[] = [
  [
    'responses',
    'renames settings, and passes unknown ones',
    settings({
      reasoningEffort: 'low',
      reasoningSummary: 'auto',
      text: { verbosity: 'low' },
      service_tier: 'flex',
      topK: 3,
    }),
    {
      ...{ reasoning: { effort: 'low', summary: 'auto' }, text: { verbosity: 'low' }, service_tier: 'flex' },
      ...{ top_k: undefined, topK: undefined, store: false },
    },
  ],
  ['responses', 'storage only on request', settings({ store: true }), { store: true, include: undefined }],
  [
    'responses',
    'a chosen tool',
    { tools, ...settings({ tool_choice: { type: 'function', function: { name: 'f' } } }) },
    { tool_choice: { type: 'function', name: 'f' } },
  ],
  [
    'responses',
    'a schema that is not strict',
    { schema: { type: 'array' } },
    { text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'array' }, strict: false } } },
  ],
  [
    'responses',
    'a strict tool, unless strict mode would refuse its schema',
    { tools: strictTools },
    {
      tools: [
        { type: 'function', ...tools[0], strict: true },
        { type: 'function', name: 'open', parameters: { type: 'object' }, strict: false },
      ],
    },
  ],
  [
    'responses',
    'details of images, and the type that their bytes show',
    messages(user({ type: 'image', image: 'https://example.com/a.png', detail: 'low' }, images[1] ?? text(''))),
    {
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
            { type: 'input_image', image_url: 'data:image/jpeg;base64,/9j/4AAQ', detail: 'auto' },
          ],
        },
      ],
    },
  ],
  [
    'responses',
    'images of system messages',
    imageInSystem,
    new Error("'Main' takes no image parts in system messages"),
  ],
  [
    'responses',
    'reasoning of the same provider key only',
    messages(
      of('assistant', thought('Main'), thought('Other'), { type: 'reasoning', text: 'x' }, text(''), call('c1')),
    ),
    {
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sealed' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"x":1}' },
      ],
    },
  ],
]

const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data })
const ephemeral = { type: 'ephemeral' }
const redacted = (maker: string): MessagePart => ({ type: 'redacted-reasoning', data: 'xyz', provider: maker })
const thinking = { type: 'enabled', budgetTokens: 2000 }
const list = { type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'string' } } }
const mapped: unknown = expect.stringMatching(/^[a-zA-Z0-9]{24}$/)
const choose = (toolChoice: unknown) => ({ tools, ...settings({ toolChoice }) })

const anthropicRows: Row[] = [
  [
    'anthropic',
    'leading system messages in their own field, later ones as user',
    messages(of('system', text('a')), of('developer', text('b')), user(text('c')), of('system', text('d'))),
    { system: words('a', 'b'), messages: [blocks('user', ...words('c', 'd'))] },
  ],
  [
    'anthropic',
    'the last system message as user if there is none',
    messages(of('system', text('a')), of('system', text('b'))),
    { system: words('a'), messages: [blocks('user', ...words('b'))] },
  ],
  [
    'anthropic',
    'a trimmed prefix, and no empty texts',
    messages(user(text('a'), text('')), of('assistant', text('{ \n'))),
    { messages: [blocks('user', ...words('a')), blocks('assistant', ...words('{'))] },
  ],
  [
    'anthropic',
    'no empty prefix',
    messages(user(text('a')), of('assistant', text(' '))),
    { messages: [blocks('user', ...words('a'))] },
  ],
  [
    'anthropic',
    'images and texts by content, of the type that their bytes show',
    messages(
      user(
        ...images.slice(0, 2),
        { type: 'file', file: 'R3LDvMOfZQ==', mimeType: 'text/markdown' },
        { type: 'file', file: 'AAAA', mimeType: 'image/png' },
      ),
    ),
    {
      messages: [
        blocks(
          'user',
          { type: 'image', source: base64('image/webp', 'AAAA') },
          { type: 'image', source: base64('image/jpeg', '/9j/4AAQ') },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
          { type: 'image', source: base64('image/png', 'AAAA') },
        ),
      ],
    },
  ],
  [
    'anthropic',
    'texts by URL',
    messages(user({ type: 'file', file: 'https://example.com/a.txt', mimeType: 'text/plain' })),
    new Error("'Main' takes no file parts of type text/plain by URL"),
  ],
  [
    'anthropic',
    'images of system messages',
    imageInSystem,
    new Error("'Main' takes no image parts in system messages"),
  ],
  [
    'anthropic',
    'ids of calls, converted where it does not accept them, and failed results',
    messages(
      user(text('u')),
      of('assistant', text('ok'), call('call_1'), call('a:b c')),
      of('tool', result('call_1')),
      of('tool', result('a:b c', 'boom', { isError: true })),
      user(text('go on')),
    ),
    {
      messages: [
        blocks('user', ...words('u')),
        blocks(
          'assistant',
          ...words('ok'),
          { type: 'tool_use', id: 'call_1', name: 'f', input: { x: 1 } },
          { type: 'tool_use', id: mapped, name: 'f', input: { x: 1 } },
        ),
        blocks(
          'user',
          { type: 'tool_result', tool_use_id: 'call_1', content: '{"y":2}' },
          { type: 'tool_result', tool_use_id: mapped, content: 'boom', is_error: true },
          ...words('go on'),
        ),
      ],
    },
  ],
  ...['Main', 'Other'].map(
    (maker): Row => [
      'anthropic',
      `reasoning of the provider key ${maker}`,
      messages(
        user(text('u')),
        of('assistant', thought(maker), { type: 'reasoning', text: 'unsigned' }, redacted(maker), text('ok')),
      ),
      {
        messages: [
          blocks('user', ...words('u')),
          blocks(
            'assistant',
            ...(maker === 'Main'
              ? [
                  { type: 'thinking', thinking: 'hm', signature: 'sealed' },
                  { type: 'redacted_thinking', data: 'xyz' },
                ]
              : []),
            ...words('ok'),
          ),
        ],
      },
    ],
  ),
  [
    'anthropic',
    'cache marks on parts and messages, under either name',
    messages(
      { ...of('system', text('a'), text('b')), cache_control: ephemeral },
      user(text('c', { cacheControl: { ...ephemeral, ttl: '1h' } }), text('d', { cacheControl: true })),
    ),
    {
      system: [...words('a'), { ...words('b')[0], cache_control: ephemeral }],
      messages: [
        blocks(
          'user',
          { ...words('c')[0], cache_control: { ...ephemeral, ttl: '1h' } },
          { ...words('d')[0], cache_control: ephemeral },
        ),
      ],
    },
  ],
  ['anthropic', 'a cache mark on the request', settings({ cacheControl: true }), { cache_control: ephemeral }],
  [
    'anthropic',
    'drops settings of other vendors, and passes unknown ones',
    settings({
      ...{ seed: 1, presencePenalty: 1, frequencyPenalty: 1, stop: 'END', metadata: { user_id: 'u' } },
      providerOptions: { anthropic: { service_tier: 'auto' }, openai: { store: true } },
    }),
    {
      ...{ seed: undefined, presence_penalty: undefined, frequency_penalty: undefined, store: undefined },
      ...{ stop_sequences: ['END'], metadata: { user_id: 'u' }, service_tier: 'auto' },
    },
  ],
  ...Object.entries({
    'claude-3-opus-20240229': 4096,
    'claude-3-5-sonnet-latest': 8192,
    'claude-sonnet-4-5': 16384,
  }).map(([model, max_tokens]): Row => ['anthropic', `the output limit of ${model}`, { model }, { max_tokens }]),
  [
    'anthropic',
    'a limit above the thinking budget, without the settings that thinking excludes',
    settings({ thinking, maxTokens: 500, temperature: 0.2, topK: 3, topP: 0.97 }),
    {
      ...{ max_tokens: 2500, top_p: 0.97, temperature: undefined, top_k: undefined },
      thinking: { type: 'enabled', budget_tokens: 2000 },
    },
  ],
  [
    'anthropic',
    'every setting without thinking',
    settings({ thinking: { type: 'disabled' }, temperature: 0.2 }),
    { temperature: 0.2 },
  ],
  ['anthropic', 'tools without a choice', { tools }, { tool_choice: undefined }],
  ['anthropic', 'no tool', choose('none'), { tool_choice: { type: 'none' } }],
  ['anthropic', 'any tool or none', choose({ type: 'auto' }), { tool_choice: { type: 'auto' } }],
  ...[
    { type: 'function', function: { name: 'f' } },
    { type: 'tool', toolName: 'f' },
  ].map(
    (choice): Row => [
      'anthropic',
      `a chosen tool: ${choice.type}`,
      choose(choice),
      { tool_choice: { type: 'tool', name: 'f' } },
    ],
  ),
  [
    'anthropic',
    'a structured answer next to other tools',
    { schema: closedSchema, tools },
    {
      tools: [
        { name: 'f', description: 'F', input_schema: closedSchema },
        { name: 'structured_answer', description: expect.any(String), input_schema: closedSchema },
      ],
      tool_choice: { type: 'any' },
    },
  ],
  [
    'anthropic',
    'a structured answer in words if thinking excludes a forced tool',
    { schema: closedSchema, ...settings({ thinking }) },
    { tool_choice: undefined, system: [{ type: 'text', text: expect.stringContaining('structured_answer') }] },
  ],
  [
    'anthropic',
    'a structured answer that is not an object, with definitions at the root',
    { schema: list },
    {
      tools: [
        {
          name: 'structured_answer',
          description: expect.any(String),
          input_schema: {
            type: 'object',
            properties: { answer: { type: 'array', items: { $ref: '#/$defs/x' } } },
            required: ['answer'],
            $defs: { x: { type: 'string' } },
          },
        },
      ],
    },
  ],
]

describe('body', () => {
  it.each([...chatRows, ...responsesRows, ...anthropicRows])('%s: %s', (kind, _rule, request, expected) => {
    if (expected instanceof Error) return expect(() => bodyOf(kind, request)).toThrow(expected.message)
    const sent = bodyOf(kind, request)
    expect(Object.fromEntries(Object.keys(expected).map((key) => [key, sent[key]]))).toEqual(expected)
  })

  it.each(Object.entries({ mistral: 9, anthropic: 24 }))('%s: gives call and result the same id', (kind, length) => {
    const history = messages(user(text('u')), of('assistant', call('a:b c')), of('tool', result('a:b c')))
    const ids = JSON.stringify(bodyOf(kind, history)).match(/"(?:id|tool_call_id|tool_use_id)":"\w+"/g)
    expect(new Set(ids?.map((each) => each.split(':')[1]))).toHaveLength(1)
    expect(ids?.[0]).toHaveLength('"id":""'.length + length)
  })

  it.each([
    ['openai', ['logprobs']],
    ['groq', []],
    ['mistral', ['logprobs']],
    ['deepseek', ['thinking', 'logprobs']],
    ['xai', ['logprobs']],
    ['perplexity', ['top_k', 'logprobs']],
    ['google', ['extra_body', 'logprobs']],
    ['google_vertex', ['extra_body', 'logprobs']],
    ['azure', ['logprobs']],
    ['custom', ['top_k', 'thinking', 'thinkingConfig', 'safetySettings', 'logprobs']],
  ])('%s: of the settings that vary, only %j', (kind, expected) => {
    const varying = { topK: 3, thinking: { type: 'enabled' }, thinkingConfig: { a: 1 }, safetySettings: { b: 1 } }
    const url = ['custom', 'azure', 'google_vertex'].includes(kind) ? 'http://models.test/v1' : null
    const {
      model: _model,
      messages: _messages,
      ...rest
    } = bodyOf(kind, { settings: { ...varying, logprobs: true }, provider: providerAt(url, { kind }) })
    expect(Object.keys(rest).sort()).toEqual(expected.sort())
  })
})

it.each([
  [{ type: 'array', items: closedSchema }],
  [{ ...closedSchema, properties: { a: { type: 'object', properties: {} } } }],
  [{ ...closedSchema, properties: { a: { type: 'array' } } }],
  [{ ...closedSchema, properties: { a: {} } }],
  [{ ...closedSchema, properties: { a: { oneOf: [{ type: 'string' }] } } }],
  [{ ...closedSchema, $defs: { b: { type: 'object' } } }],
])('is not a strict schema: %j', (schema) => {
  expect(meetsStrict(schema)).toBe(false)
})

it.each([
  ...['Authorization', 'HOST', 'content-length', 'Transfer-Encoding', 'connection', 'bad name', 'x\r\ny'].map(
    (name) => [name, 'x'],
  ),
  ['x-a', 'b\r\nc: d'],
])('refuses to set the header %j to %j', (name = '', value = '') => {
  const request = modelRequest(null, { settings: { headers: { [name]: value } } })
  expect(() => requestHeaders(providerAt(null), request, {})).toThrow('cannot be set')
})

describe('addresses', () => {
  const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
  afterAll(() => drivers.close())
  const at = (kind: string, configuration: Json = {}, url: string | null = null) =>
    providerAt(url, { kind, configuration })

  it.each([
    ['openai', 'https://api.openai.com/v1'],
    ['groq', 'https://api.groq.com/openai/v1'],
    ['mistral', 'https://api.mistral.ai/v1'],
    ['deepseek', 'https://api.deepseek.com/v1'],
    ['xai', 'https://api.x.ai/v1'],
    ['perplexity', 'https://api.perplexity.ai'],
    ['google', 'https://generativelanguage.googleapis.com/v1beta/openai'],
  ])('%s', (kind, url) => {
    expect(openaiService(at(kind)).baseUrl).toBe(url)
    expect(openaiService(at(kind, {}, 'http://models.test/v1')).baseUrl).toBe('http://models.test/v1')
  })

  it.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['http://proxy.test:8080/anthropic?x=1', 'http://proxy.test:8080/anthropic/v1/messages?x=1'],
  ])('anthropic: %s', (base, url) => {
    expect(messagesUrl(base).href).toBe(url)
  })

  it.each(['google_vertex', 'anthropic_vertex', 'amazon_bedrock', 'custom'])('%s: needs one', (kind) => {
    expect(() => drivers.driverFor(at(kind))).toThrow(`Provider kind '${kind}' needs an OpenAI-compatible url`)
    expect(drivers.driverFor(at(kind, {}, 'http://models.test/v1'))).toBeDefined()
  })

  it('sends Responses requests only to services with that endpoint', () => {
    const configuration = { endpoint: 'responses' }
    for (const kind of ['openai', 'custom']) {
      expect(drivers.driverFor(at(kind, configuration, 'http://models.test/v1'))).toBeDefined()
    }
    expect(() => drivers.driverFor(at('groq', configuration))).toThrow("kind 'groq' has no endpoint 'responses'")
  })

  it.each([
    [{ resourceName: 'acme' }, null, { baseUrl: 'https://acme.openai.azure.com/openai/v1' }],
    [
      { resourceName: 'acme', apiVersion: '2024-10-21' },
      null,
      { baseUrl: 'https://acme.openai.azure.com/openai', apiVersion: '2024-10-21' },
    ],
    [{ baseUrl: 'https://gate.test/openai', apiVersion: 'v1' }, null, { baseUrl: 'https://gate.test/openai' }],
    [{ apiVersion: '2024-10-21' }, 'https://gate.test', { baseUrl: 'https://gate.test', apiVersion: '2024-10-21' }],
    [{}, 'https://gate.test/v1', undefined],
  ])('azure: %j with url %s', (configuration, url, expected) => {
    expect(openaiService(at('azure', configuration, url)).azure).toEqual(expected)
  })

  it.each([{ resourceName: 'evil.test/x' }, { resourceName: 'a@b' }, { baseUrl: 'ftp://x' }])(
    'azure: refuses %j',
    (configuration) => {
      expect(() => openaiService(at('azure', configuration))).toThrow('configuration.')
    },
  )

  it('azure: needs one', () => {
    expect(() => drivers.driverFor(at('azure'))).toThrow('resourceName or baseUrl')
  })
})
