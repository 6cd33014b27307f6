import { describe, expect, it } from 'vitest'
import { anthropicBody, messagesUrl } from '../../src/adapters/providers/anthropic/driver.ts'
import type { ModelRequest } from '../../src/features/providers/model-driver.ts'
import type { Message, MessagePart } from '../../src/features/templates/message.ts'
import { modelRequest, providerAt } from '../support/model-request.ts'

const provider = providerAt(null, { name: 'Claude', kind: 'anthropic' })
const body = (more: Partial<ModelRequest>) =>
  anthropicBody(
    provider,
    modelRequest(null, { model: 'claude-sonnet-4', stream: false, ...more }),
  ) as unknown as Record<string, unknown>
const of = (role: Message['role'], ...content: MessagePart[]): Message => ({ role, content })
const text = (value: string, more: Record<string, unknown> = {}): MessagePart => ({
  type: 'text',
  text: value,
  ...more,
})
const sent = (...messages: Message[]) => {
  const { system, messages: turns } = body({ messages })
  return { system, turns }
}

describe('roles', () => {
  it('moves leading system messages to the system field, and later ones to the user', () => {
    expect(
      sent(of('system', text('a')), of('developer', text('b')), of('user', text('c')), of('system', text('d'))),
    ).toEqual({
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      turns: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'c' },
            { type: 'text', text: 'd' },
          ],
        },
      ],
    })
  })

  it('converts the last system message if there is no user message', () => {
    expect(sent(of('system', text('a')), of('system', text('b')))).toEqual({
      system: [{ type: 'text', text: 'a' }],
      turns: [{ role: 'user', content: [{ type: 'text', text: 'b' }] }],
    })
  })

  it('trims a prefilled answer and omits empty texts', () => {
    expect(sent(of('user', text('a'), text('')), of('assistant', text('{ \n'))).turns).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'text', text: '{' }] },
    ])
    expect(sent(of('user', text('a')), of('assistant', text(' '))).turns).toHaveLength(1)
  })
})

describe('parts', () => {
  it('sends images and documents by URL or content', () => {
    const parts: MessagePart[] = [
      { type: 'image', image: 'https://example.com/a.png' },
      { type: 'image', image: 'data:image/webp;base64,AAAA' },
      { type: 'image', image: '/9j/4AAQ' },
      { type: 'file', file: 'https://example.com/a.pdf', mimeType: 'application/pdf', name: 'a.pdf' },
      { type: 'file', file: 'JVBERi0=', mimeType: 'application/pdf' },
      { type: 'file', file: 'R3LDvMOfZQ==', mimeType: 'text/markdown' },
      { type: 'file', file: 'AAAA', mimeType: 'image/png' },
    ]
    expect(sent(of('user', ...parts)).turns).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' }, title: 'a.pdf' },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        ],
      },
    ])
  })

  it.each<[MessagePart, Message['role'], string]>([
    [{ type: 'file', file: 'AAAA', mimeType: 'audio/wav' }, 'user', 'file parts of type audio/wav'],
    [
      { type: 'file', file: 'https://example.com/a.txt', mimeType: 'text/plain' },
      'user',
      'file parts of type text/plain by URL',
    ],
    [{ type: 'image', image: 'AAAA' }, 'system', 'image parts in system messages'],
  ])('refuses unsupported parts before the call: %j in %s', (part, role, words) => {
    expect(() => sent(of(role, part), of('user', text('x')))).toThrow(`Provider 'Claude' takes no ${words}`)
  })

  it('keeps the ids of calls and results, and converts unsupported ids', () => {
    const call = (toolCallId: string): MessagePart => ({ type: 'tool-call', toolCallId, toolName: 'f', args: { x: 1 } })
    const result = (toolCallId: string, more: object): MessagePart => ({
      type: 'tool-result',
      toolCallId,
      toolName: 'f',
      result: { y: 2 },
      ...more,
    })
    const { turns } = sent(
      of('user', text('u')),
      of('assistant', text('ok'), call('call_1'), call('a:b c')),
      of('tool', result('call_1', {})),
      of('tool', result('a:b c', { result: 'boom', isError: true })),
      of('user', text('go on')),
    )
    const [, assistant, answers] = turns as { content: Record<string, unknown>[] }[]
    const mapped = assistant?.content[2]?.['id']
    expect(mapped).toMatch(/^[a-zA-Z0-9]{24}$/)
    expect(assistant?.content).toEqual([
      { type: 'text', text: 'ok' },
      { type: 'tool_use', id: 'call_1', name: 'f', input: { x: 1 } },
      { type: 'tool_use', id: mapped, name: 'f', input: { x: 1 } },
    ])
    expect(answers?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'call_1', content: '{"y":2}' },
      { type: 'tool_result', tool_use_id: mapped, content: 'boom', is_error: true },
      { type: 'text', text: 'go on' },
    ])
  })

  it('sends reasoning only to the provider key that produced it', () => {
    const thoughts = (maker: string): Message =>
      of(
        'assistant',
        { type: 'reasoning', text: 'hm', signature: 'sig', provider: maker },
        { type: 'reasoning', text: 'unsigned' },
        { type: 'redacted-reasoning', data: 'xyz', provider: maker },
        text('ok'),
      )
    expect(sent(of('user', text('u')), thoughts('Claude'), of('user', text('v'))).turns).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'redacted_thinking', data: 'xyz' },
          { type: 'text', text: 'ok' },
        ],
      },
      {},
    ])
    expect(sent(of('user', text('u')), thoughts('Other'), of('user', text('v'))).turns).toMatchObject([
      {},
      { content: [{ type: 'text', text: 'ok' }] },
      {},
    ])
  })

  it('sets cache marks on parts, messages and the whole request, under either name', () => {
    const mark = { type: 'ephemeral' }
    const { system, turns } = sent(
      { ...of('system', text('a'), text('b')), cache_control: mark },
      of('user', text('c', { cacheControl: { type: 'ephemeral', ttl: '1h' } }), text('d', { cacheControl: true })),
    )
    expect(system).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache_control: mark },
    ])
    expect(turns).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'c', cache_control: { type: 'ephemeral', ttl: '1h' } },
          { type: 'text', text: 'd', cache_control: mark },
        ],
      },
    ])
    expect(body({ settings: { cacheControl: true } })).toMatchObject({ cache_control: mark })
  })
})

describe('settings', () => {
  it('renames known settings, passes unknown ones, and drops those of other vendors', () => {
    const settings = {
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      stop: 'END',
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      metadata: { user_id: 'u' },
      maxTokens: 100,
      providerOptions: { anthropic: { service_tier: 'auto' }, openai: { store: true } },
    }
    const { messages: _messages, ...rest } = body({ settings, stream: true })
    expect(rest).toEqual({
      model: 'claude-sonnet-4',
      stream: true,
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      service_tier: 'auto',
    })
  })

  it.each([
    ['claude-3-opus-20240229', 4096],
    ['claude-3-5-sonnet-latest', 8192],
    ['claude-sonnet-4-5', 16384],
  ])('defaults the output limit of %s to %i', (model, limit) => {
    expect(body({ model })).toMatchObject({ max_tokens: limit })
  })

  it('raises a limit below the thinking budget and drops incompatible settings', () => {
    const thinking = { type: 'enabled', budgetTokens: 2000 }
    const sampled = body({ settings: { thinking, maxTokens: 500, temperature: 0.2, topK: 3, topP: 0.97 } })
    expect(sampled).toMatchObject({ max_tokens: 2500, top_p: 0.97, thinking: { type: 'enabled', budget_tokens: 2000 } })
    expect(sampled).not.toHaveProperty('temperature')
    expect(sampled).not.toHaveProperty('top_k')
    expect(body({ settings: { thinking: { type: 'disabled' }, temperature: 0.2 } })).toMatchObject({ temperature: 0.2 })
    expect(body({ settings: { reasoningEffort: 'low' } })).toMatchObject({ output_config: { effort: 'low' } })
  })

  it('sends tools, and accepts every common form of tool choice', () => {
    const tools = [{ name: 'f', description: 'F', parameters: { type: 'object', properties: {} } }]
    expect(body({ tools })).toMatchObject({
      tools: [{ name: 'f', description: 'F', input_schema: { type: 'object', properties: {} } }],
    })
    expect(body({ tools })).not.toHaveProperty('tool_choice')
    const choice = (toolChoice: unknown) => body({ tools, settings: { toolChoice } })['tool_choice']
    expect(choice('required')).toEqual({ type: 'any' })
    expect(choice('none')).toEqual({ type: 'none' })
    expect(choice({ type: 'auto' })).toEqual({ type: 'auto' })
    expect(choice({ type: 'function', function: { name: 'f' } })).toEqual({ type: 'tool', name: 'f' })
    expect(choice({ type: 'tool', toolName: 'f' })).toEqual({ type: 'tool', name: 'f' })
  })
})

describe('structured answers', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const tools = [{ name: 'f', parameters: {} }]

  it('are sent as a forced tool, or as any tool if there are others', () => {
    expect(body({ schema })).toMatchObject({
      tools: [{ name: 'structured_answer', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'structured_answer' },
    })
    expect(body({ schema, tools })).toMatchObject({
      tools: [{ name: 'f', input_schema: { type: 'object' } }, { name: 'structured_answer' }],
      tool_choice: { type: 'any' },
    })
  })

  it('are requested in text if thinking excludes a forced tool', () => {
    const sent = body({ schema, settings: { thinking: { type: 'enabled', budget_tokens: 1024 } } })
    expect(sent).not.toHaveProperty('tool_choice')
    expect(sent['system']).toMatchObject([{ text: expect.stringContaining('structured_answer') }])
  })

  it('are wrapped in an object if needed, with definitions at the root', () => {
    const list = { type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'string' } } }
    expect(body({ schema: list })).toMatchObject({
      tools: [
        {
          input_schema: {
            type: 'object',
            properties: { answer: { type: 'array', items: { $ref: '#/$defs/x' } } },
            required: ['answer'],
            $defs: { x: { type: 'string' } },
          },
        },
      ],
    })
  })
})

describe('address', () => {
  it.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['http://proxy.test:8080/anthropic?x=1', 'http://proxy.test:8080/anthropic/v1/messages?x=1'],
  ])('%s', (base, url) => {
    expect(messagesUrl(base).href).toBe(url)
  })
})
