import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { plainChunks } from '../../src/adapters/providers/answer/stream.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { chatBody } from '../../src/adapters/providers/openai/chat/request.ts'
import { openaiService } from '../../src/adapters/providers/openai/service.ts'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import type { Message, MessagePart } from '../../src/features/templates/message.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import {
  callOf,
  chunksOf,
  failureOf,
  modelRequest,
  providerAt,
  serviceOf,
  type TestRequest,
  textOf,
} from '../support/model-request.ts'

const body = (kind: string, more: Partial<TestRequest> = {}) => {
  const request = modelRequest(null, { provider: providerAt(null, { kind }), stream: false, ...more })
  return chatBody(serviceOf(request.provider), request) as unknown as Record<string, unknown>
}
const of = (role: Message['role'], ...content: MessagePart[]): Message => ({ role, content })
const text = (value: string): MessagePart => ({ type: 'text', text: value })
const messagesOf = (kind: string, ...messages: Message[]) => body(kind, { messages })['messages']
const pdf: MessagePart = { type: 'file', file: 'JVBERi0=', mimeType: 'application/pdf', name: 'a.pdf' }
const image: MessagePart = { type: 'image', image: 'https://example.com/a.png' }
const call = (toolCallId: string): MessagePart => ({ type: 'tool-call', toolCallId, toolName: 'f', args: {} })
const result = (toolCallId: string): MessagePart => ({ type: 'tool-result', toolCallId, toolName: 'f', result: 1 })

describe('addresses', () => {
  it.each([
    ['openai', 'https://api.openai.com/v1'],
    ['groq', 'https://api.groq.com/openai/v1'],
    ['mistral', 'https://api.mistral.ai/v1'],
    ['deepseek', 'https://api.deepseek.com/v1'],
    ['xai', 'https://api.x.ai/v1'],
    ['perplexity', 'https://api.perplexity.ai'],
    ['google', 'https://generativelanguage.googleapis.com/v1beta/openai'],
  ])('%s', (kind, url) => {
    expect(openaiService(providerAt(null, { kind })).baseUrl).toBe(url)
    expect(openaiService(providerAt('http://models.test/v1', { kind })).baseUrl).toBe('http://models.test/v1')
  })
})

describe('settings', () => {
  const settings = {
    topK: 3,
    thinking: { type: 'enabled' },
    thinkingConfig: { a: 1 },
    safetySettings: { b: 1 },
    logprobs: true,
  }

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
  ])('sends to %s, of the settings that vary, only %j', (kind, expected) => {
    const url = ['custom', 'azure', 'google_vertex'].includes(kind) ? 'http://models.test/v1' : null
    const {
      model: _model,
      messages: _messages,
      ...rest
    } = body(kind, { settings, provider: providerAt(url, { kind }) })
    expect(Object.keys(rest).sort()).toEqual(expected.sort())
  })

  it("have the service's names", () => {
    expect(body('mistral', { settings: { seed: 7 } })).toMatchObject({ random_seed: 7 })
    expect(
      body('google', { settings: { thinkingConfig: { thinkingBudget: 5, includeThoughts: true } } }),
    ).toMatchObject({
      extra_body: { google: { thinking_config: { thinking_budget: 5, include_thoughts: true } } },
    })
    const tools = [{ name: 'f', parameters: {} }]
    expect(body('groq', { tools, settings: { toolChoice: { type: 'tool', toolName: 'f' } } })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'f' } },
    })
    expect(body('groq', { settings: { toolChoice: 'required' } })).not.toHaveProperty('tool_choice')
  })
})

describe('roles', () => {
  const messages = [of('system', text('s')), of('user', text('u')), of('system', text('t')), of('assistant', text('a'))]
  const roles = (kind: string, ...given: Message[]) => (messagesOf(kind, ...given) as Message[]).map(({ role }) => role)

  it.each([
    ['groq', ['system', 'user', 'system', 'assistant']],
    ['google', ['system', 'user', 'user', 'assistant']],
    ['perplexity', ['system', 'user', 'user']],
  ])('%s: %j', (kind, expected) => {
    expect(roles(kind, ...messages)).toEqual(expected)
  })

  it('adds a user message for Google and the prefix mark for Mistral', () => {
    expect(roles('google', of('system', text('a')), of('system', text('b')))).toEqual(['system', 'user'])
    expect(messagesOf('mistral', of('user', text('u')), of('assistant', text('{')))).toEqual([
      { role: 'user', content: 'u' },
      { role: 'assistant', content: '{', prefix: true },
    ])
  })

  it('sends user names to services that accept them', () => {
    const named = { ...of('user', text('u')), name: 'Ann' }
    expect(messagesOf('openai', named)).toEqual([{ role: 'user', content: 'u', name: 'Ann' }])
    expect(messagesOf('groq', named)).toEqual([{ role: 'user', content: 'u' }])
  })
})

describe('parts', () => {
  it.each([
    ['openai', { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } }],
    ['mistral', { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0=' }],
    ['perplexity', { type: 'file_url', file_url: { url: 'JVBERi0=' }, file_name: 'a.pdf' }],
  ])('sends files to %s in its own format', (kind, expected) => {
    expect(messagesOf(kind, of('user', pdf))).toEqual([{ role: 'user', content: [expected] }])
  })

  it.each([
    ['groq', pdf, 'file'],
    ['xai', pdf, 'file'],
    ['deepseek', pdf, 'file'],
    ['deepseek', image, 'image'],
  ])('%s: refuses %j before the call', (kind, part, type) => {
    expect(() => messagesOf(kind, of('user', part))).toThrow(`Provider 'OpenAI' takes no ${type} parts`)
  })

  it('converts ids to nine characters for Mistral, equal for call and result', () => {
    const sent = messagesOf('mistral', of('assistant', call('call_aBc')), of('tool', result('call_aBc'))) as [
      { tool_calls: { id: string }[] },
      { tool_call_id: string },
    ]
    expect(sent[0].tool_calls[0]?.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(sent[1].tool_call_id).toBe(sent[0].tool_calls[0]?.id)
    expect(messagesOf('mistral', of('tool', result('abcDEF123')))).toMatchObject([{ tool_call_id: 'abcDEF123' }])
  })
})

describe('data returned to the service', () => {
  const tool = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }

  it("includes Google's call signature, for the key that produced it", () => {
    const entry = providerAt(null, { kind: 'google', name: 'Gemini' })
    const signed = { ...tool, extra_content: { google: { thought_signature: 'sig' } } }
    const answer = JSON.stringify({ choices: [{ message: { tool_calls: [signed] }, finish_reason: 'tool_calls' }] })
    const seal = { signature: 'sig', provider: 'Gemini' }
    expect(plainChunks(answer, new ChatReader(serviceOf(entry)))).toMatchObject([
      {},
      {},
      { type: 'tool-call', seal },
      {},
    ])
    const messages = [of('assistant', { ...call('c1'), ...seal }), of('tool', result('c1'))]
    expect(body('google', { provider: entry, messages })['messages']).toMatchObject([{ tool_calls: [signed] }, {}])
    const other = body('google', { provider: { ...entry, name: 'Other' }, messages })['messages']
    expect(other).toEqual([{ role: 'assistant', content: null, tool_calls: [tool] }, expect.anything()])
  })

  it("includes a gateway's encrypted data for the service behind it", () => {
    const entry = providerAt('http://gate.test/v1', { kind: 'custom', name: 'Gate' })
    const open = { type: 'reasoning.text', text: 'hm', index: 0 }
    const sealed = { type: 'reasoning.encrypted', data: 'AAAA', id: 'c1', format: 'google-gemini-v1', index: 1 }
    const message = { reasoning: 'hm', reasoning_details: [open, sealed], tool_calls: [tool] }
    const chunks = plainChunks(
      JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }),
      new ChatReader(serviceOf(entry)),
    )
    const seal = { signature: JSON.stringify([sealed]), provider: 'Gate' }
    expect(chunks.filter(({ type }) => !type.startsWith('tool-input'))).toMatchObject([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal },
      { type: 'tool-call' },
      { type: 'finish' },
    ])
    const thought: MessagePart = { type: 'reasoning', text: 'hm', ...seal }
    const messages = [of('assistant', thought, call('c1')), of('tool', result('c1'))]
    expect(body('custom', { provider: entry, messages })['messages']).toMatchObject([
      { reasoning_details: [sealed] },
      {},
    ])
    const [sent] = body('custom', { provider: { ...entry, name: 'Other' }, messages })['messages'] as object[]
    expect(sent).toEqual({ role: 'assistant', content: null, tool_calls: [tool] })
  })

  it("includes DeepSeek's reasoning before a call", () => {
    const entry = providerAt(null, { kind: 'deepseek', name: 'Deep' })
    const message = { reasoning_content: 'hm', content: null, tool_calls: [tool] }
    const chunks = plainChunks(
      JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }),
      new ChatReader(serviceOf(entry)),
    )
    expect(chunks.slice(0, 2)).toEqual([
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { provider: 'Deep' } },
    ])
    const thought: MessagePart = { type: 'reasoning', text: 'hm', provider: 'Deep' }
    const messages = [
      of('assistant', thought, call('c1')),
      of('tool', result('c1')),
      of('assistant', thought, text('x')),
    ]
    const [first, , last] = body('deepseek', { provider: entry, messages })['messages'] as Record<string, unknown>[]
    expect(first).toMatchObject({ reasoning_content: 'hm' })
    expect(last).toEqual({ role: 'assistant', content: 'x' })
  })
})

it('reports the sources of an answer once, at its end', () => {
  const search_results = [{ title: 'A', url: 'https://a.test' }, { title: 'no address' }]
  const answer = JSON.stringify({ choices: [{ message: { content: 'x' } }], search_results })
  expect(plainChunks(answer, new ChatReader(serviceOf(providerAt(null, { kind: 'perplexity' })))).slice(1, -1)).toEqual(
    [{ type: 'source', payload: { sourceType: 'url', url: 'https://a.test', title: 'A' } }],
  )
})

describe('usage', () => {
  const usageOf = (usage: unknown) =>
    plainChunks(
      JSON.stringify({ choices: [{ message: { content: '' } }], usage }),
      new ChatReader(serviceOf(providerAt(null))),
    ).at(-1)

  it.each([
    [
      'xAI counts reasoning separately',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 3 } },
      { outputTokens: 5, reasoningTokens: 3 },
    ],
    [
      'DeepSeek has its own name for cache reads',
      { prompt_tokens: 5, completion_tokens: 2, prompt_cache_hit_tokens: 4 },
      { inputTokens: 5, cachedInputTokens: 4 },
    ],
  ])('%s', (_name, usage, expected) => {
    expect(usageOf(usage)).toMatchObject({ usage: expected })
  })

  it('counts cache writes', () => {
    const usage = {
      prompt_tokens: 9,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 6 },
    }
    expect(usageOf(usage)).toMatchObject({ cacheWriteTokens: 6, usage: { inputTokens: 9, cachedInputTokens: 2 } })
  })
})

describe('azure', () => {
  const entry = (configuration: Record<string, unknown>, url: string | null = null) =>
    providerAt(url, { kind: 'azure', configuration })

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
  ])('resolves %j with url %s', (configuration, url, expected) => {
    expect(openaiService(entry(configuration, url)).azure).toEqual(expected)
  })

  it.each([{ resourceName: 'evil.test/x' }, { resourceName: 'a@b' }, { baseUrl: 'ftp://x' }])(
    'refuses %j',
    (configuration) => {
      expect(() => openaiService(entry(configuration))).toThrow('configuration.')
    },
  )

  const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
  let fake: FakeProvider
  beforeEach(async () => {
    fake = await fakeProvider()
    return () => fake.close()
  })
  afterAll(() => drivers.close())
  const ask = (configuration: Record<string, unknown>, more: Partial<TestRequest> = {}) => {
    const provider = entry({ baseUrl: `http://127.0.0.1:${fake.port}/openai`, ...configuration })
    return callOf(drivers.driverFor(provider), modelRequest(null, { provider, ...more }))
  }

  it('calls versioned deployments with the resource key', async () => {
    fake.enqueue({ text: 'hi' })
    const chunks = await chunksOf(
      ask({ apiVersion: '2024-10-21', headers: { 'x-team': 't' } }, { settings: { maxTokens: 5 } }),
    )
    expect(textOf(chunks)).toBe('hi')
    const { path, headers, body: sent } = await fake.waitForRequest(1)
    expect(path).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21')
    expect(headers).toMatchObject({ 'api-key': 'test-token-123', 'x-team': 't' })
    expect(headers).not.toHaveProperty('authorization')
    expect(sent).toMatchObject({ max_completion_tokens: 5 })
  })

  it('calls Responses, and the newer address without a version', async () => {
    await chunksOf(ask({ endpoint: 'responses', apiVersion: '2025-03-01-preview' }))
    await chunksOf(ask({}))
    expect(fake.requests.map(({ path }) => path)).toEqual([
      '/openai/responses?api-version=2025-03-01-preview',
      '/openai/chat/completions',
    ])
  })

  it.each([
    ['/openai/?team=a', {}, '/openai/chat/completions?team=a'],
    [
      '/openai?team=a',
      { apiVersion: '2024-10-21' },
      '/openai/deployments/gpt-4o/chat/completions?team=a&api-version=2024-10-21',
    ],
    [
      '/openai/deployments/mine/',
      { apiVersion: '2024-10-21' },
      '/openai/deployments/mine/chat/completions?api-version=2024-10-21',
    ],
  ])('extends the base address %s', async (base, configuration, path) => {
    await chunksOf(ask({ baseUrl: `http://127.0.0.1:${fake.port}${base}`, ...configuration }))
    expect((await fake.waitForRequest(1)).path).toBe(path)
  })

  it.each(['../../x', '..', '.', 'a/b', 'a\\b'])('refuses the model %s, which would change the path', async (model) => {
    const failure = await failureOf(ask({ apiVersion: '2024-10-21' }, { model }))
    expect(failure).toMatchObject({ kind: 'misconfigured' })
    expect(fake.requests).toHaveLength(0)
  })

  it('escapes the model in a versioned address, and sends it unchanged otherwise', async () => {
    const model = 'my model?x=1#ü'
    await chunksOf(ask({ apiVersion: '2024-10-21' }, { model }))
    await chunksOf(ask({}, { model }))
    expect(fake.requests.map(({ path }) => path)).toEqual([
      '/openai/deployments/my%20model%3Fx%3D1%23%C3%BC/chat/completions?api-version=2024-10-21',
      '/openai/chat/completions',
    ])
  })

  it('does not allow private networks', async () => {
    const provider = { ...entry({ baseUrl: fake.url }), trustedAddress: false }
    const failure = await failureOf(callOf(drivers.driverFor(provider), modelRequest(null, { provider })))
    expect(failure).toMatchObject({ kind: 'misconfigured' })
    expect(fake.connections).toBe(0)
  })

  it('requires an address', () => {
    expect(() => drivers.driverFor(entry({}))).toThrow('resourceName or baseUrl')
  })
})
