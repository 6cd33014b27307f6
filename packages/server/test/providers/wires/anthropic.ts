/** Anthropic's Messages: incremental blocks, signed reasoning, usage in two frames. */
import { bare, bern, twoCalls } from './chat.ts'
import type { AnswerWire, Json, KindWire, Told } from './shape.ts'
import { closedSchema, pixel, proxyFailure } from './shape.ts'

const counts: Json = { input_tokens: 12, output_tokens: 8 }

function answer(
  blocks: [block: Json, start: Json, ...deltas: Json[]][],
  told: Omit<Told, 'finishReason'> & Partial<Told>,
  usage = counts,
): AnswerWire {
  const reason = told.calls ? 'tool_use' : 'end_turn'
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null }
  const shown = blocks.flatMap(([block, start, ...deltas], index) => [
    { type: 'content_block_start', index, content_block: { ...block, ...start } },
    { type: 'ping' },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])
  const { output_tokens, ...input } = usage
  return {
    frames: [
      { type: 'message_start', message: { ...message, content: [], usage: { ...input, output_tokens: 1 } } },
      ...shown,
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens } },
      { type: 'message_stop' },
    ],
    plain: { ...message, content: blocks.map(([block]) => block), stop_reason: reason, usage },
    told: { finishReason: 'stop', ...told },
  }
}

const text = (...pieces: string[]): [Json, Json, ...Json[]] => [
  { type: 'text', text: pieces.join('') },
  { text: '' },
  ...pieces.map((piece) => ({ type: 'text_delta', text: piece })),
]
const use = (id: string, name: string, args: Json, ...pieces: string[]): [Json, Json, ...Json[]] => [
  { type: 'tool_use', id, name, input: args },
  { input: {} },
  ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
]
const page = { type: 'web_search_result_location', url: 'https://a.test', title: 'A', cited_text: '…' }
const asked = { type: 'text', text: 'See' }
const user = (...content: Json[]) => ({ role: 'user', content })
const assistant = (...content: Json[]) => ({ role: 'assistant', content })
const said = (value: string) => ({ type: 'text', text: value })
const dot = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }

export const anthropic: KindWire = {
  provider: { kind: 'anthropic' },
  model: 'claude-sonnet-4-5',
  path: '/messages',
  answers: {
    text: answer([text('Grüß', ' dich')], { text: 'Grüß dich' }),
    reasoning: answer(
      [
        [
          { type: 'thinking', thinking: 'Let me see', signature: 'sealed' },
          { thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Let me' },
          { type: 'thinking_delta', thinking: ' see' },
          { type: 'signature_delta', signature: 'sealed' },
        ],
        text('Hi'),
      ],
      { reasoning: 'Let me see', text: 'Hi' },
    ),
    'split call': answer([use('c1', 'weather', { city: 'Bern' }, '{"city":', '"Bern"}')], bern),
    'several calls': answer(
      [use('c1', 'weather', { city: 'Bern' }, '{"city":"Bern"}'), use('c2', 'stop', { now: true }, '{"now":true}')],
      twoCalls,
    ),
    'call without arguments': answer([use('c1', 'stop', {}, '')], bare),
    'cached tokens': answer(
      [text('Hi')],
      { text: 'Hi', usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, totalTokens: 120 } },
      { input_tokens: 30, cache_read_input_tokens: 60, cache_creation_input_tokens: 10, output_tokens: 20 },
    ),
    sources: answer(
      [
        [{ type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } }, {}],
        [{ type: 'web_search_tool_result', tool_use_id: 's1', content: [] }, {}],
        [
          { type: 'text', text: 'Hi', citations: [page] },
          { text: '', citations: [] },
          { type: 'citations_delta', citation: page },
          { type: 'text_delta', text: 'Hi' },
        ],
      ],
      { text: 'Hi', sources: ['https://a.test'] },
    ),
    image: 'it makes none',
  },
  ending: (stop_reason) => [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  reasons: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content-filter',
    pause_turn: 'other',
  },
  failures: {
    'refused request': {
      status: 400,
      body: { type: 'error', error: { type: 'invalid_request_error', message: 'messages: Field required' } },
      told: { kind: 'rejected', status: 400, providerMessage: 'messages: Field required' },
    },
    'wrong key': {
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' }, request_id: 'r' },
      told: { kind: 'rejected', status: 401, providerMessage: 'invalid x-api-key' },
    },
    'rate limit': {
      status: 429,
      headers: { 'retry-after': '9', 'anthropic-ratelimit-tokens-reset': '2026-01-02T03:00:00Z' },
      body: { type: 'error', error: { type: 'rate_limit_error', message: 'Too many tokens' } },
      told: { kind: 'rate_limited', retryAfterMs: 9000, providerMessage: 'Too many tokens' },
    },
    'failure within the answer': {
      frames: [
        { type: 'message_start', message: { usage: counts } },
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ],
      told: { kind: 'unavailable', status: 529, providerMessage: 'Overloaded' },
    },
    proxy: proxyFailure,
  },
  requests: {
    'image by URL': {
      messages: [user(asked, { type: 'image', source: { type: 'url', url: 'https://pics.test/a.png' } })],
    },
    'image by content': { messages: [user(asked, dot)] },
    'PDF by content': {
      messages: [
        user(asked, {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'a.pdf',
        }),
      ],
    },
    'PDF by URL': {
      messages: [
        user(asked, { type: 'document', source: { type: 'url', url: 'https://docs.test/a.pdf' }, title: 'a.pdf' }),
      ],
    },
    'sound by content': new Error('takes no file parts of type audio/wav'),
    'structured answer': {
      tools: [{ name: 'structured_answer', description: 'Takes the final answer.', input_schema: closedSchema }],
      tool_choice: { type: 'tool', name: 'structured_answer' },
    },
    tools: {
      tools: [{ name: 'stop', description: 'Stops.', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
    settings: {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      stop_sequences: ['x'],
      output_config: { effort: 'low' },
      max_tokens: 5,
      stream: true,
    },
    roles: { system: [said('d')], messages: [user(said('u')), assistant(said('a')), user(said('s'))] },
    'several texts': { system: [said('a'), said('b')], messages: [user(said('c'), said('d'))] },
    'tool turn': {
      messages: [
        user(said('Hi')),
        assistant(
          { type: 'thinking', thinking: 'Hm', signature: 'sealed' },
          { type: 'tool_use', id: 'call_abc', name: 'stop', input: {} },
        ),
        user({ type: 'tool_result', tool_use_id: 'call_abc', content: '{"done":true}' }),
      ],
    },
    'generated image': { messages: [user(said('Draw')), assistant(said('Here.')), user(dot, said('Bluer'))] },
  },
}
