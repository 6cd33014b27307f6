/** Answers of services and proxies with Anthropic's protocol. */
import { expect } from 'vitest'
import type { AnswerCase, Json } from './shape.ts'

const start = (more: Json = {}): Json => ({
  type: 'message_start',
  message: { role: 'assistant', content: [], usage: { input_tokens: 12, output_tokens: 1 }, ...more },
})
const begin = (content_block: Json, index = 0): Json => ({ type: 'content_block_start', index, content_block })
const grow = (delta: Json, index = 0): Json => ({ type: 'content_block_delta', index, delta })
const over = (index = 0): Json => ({ type: 'content_block_stop', index })
const says = (text: string, index = 0) => grow({ type: 'text_delta', text }, index)
const input = (partial_json: string, index = 0) => grow({ type: 'input_json_delta', partial_json }, index)
const stops = (stop_reason: string | null, usage: Json | null = { output_tokens: 8 }): Json => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
})
const last = { type: 'message_stop' }
const tool = (more: Json = {}): Json => ({ type: 'tool_use', id: 't1', name: 'weather', input: {}, ...more })
const rome: [string, Json] = ['weather', { city: 'Rome' }]
const city = { city: 'Rome' }
const full = '{"city":"Rome"}'
const cut = { kind: 'malformed', message: "The provider's response was cut off" } as const

const said = (name: string, frames: AnswerCase['frames'], more: Partial<AnswerCase> = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  text: 'Hi there',
  ...more,
})
const called = (name: string, ...frames: Json[]): AnswerCase => ({
  name,
  frames: [...frames, stops('tool_use'), last],
  calls: [rome],
  finishReason: 'tool-calls',
})
const failure = (name: string, frames: AnswerCase['frames'], providerMessage: string, more: Json = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  error: { providerMessage, ...more },
})

export const anthropicCases: AnswerCase[] = [
  called('9 complete input in content_block_start', start(), begin(tool({ input: city })), over()),
  called('9 input as text in content_block_start', start(), begin(tool({ input: full })), over()),
  called(
    '9 complete input in content_block_start and deltas',
    start(),
    begin(tool({ input: city })),
    input(full),
    over(),
  ),
  called('9 no content_block_stop', start(), begin(tool()), input('{"city":'), input('"Rome"}')),
  called(
    '9 no content_block_stop, same index for the next block',
    start(),
    begin({ type: 'text', text: '' }),
    begin(tool()),
    input(full),
  ),
  called('9 no message_start', begin(tool()), input(full), over()),
  called(
    '9 no indexes',
    start(),
    { ...begin({ type: 'text' }), index: undefined },
    { ...over(), index: undefined },
    { ...begin(tool()), index: undefined },
    { ...input(full), index: undefined },
    { ...over(), index: undefined },
  ),
  said('9 no content_block_start of a text', [start(), says('Hi'), says(' there'), over(), stops('end_turn'), last]),
  said(
    '9 no content_block_start of thinking',
    [
      start(),
      grow({ type: 'thinking_delta', thinking: 'Hm' }),
      over(),
      begin({ type: 'text', text: '' }, 1),
      says('Hi there', 1),
      over(1),
      stops('end_turn'),
      last,
    ],
    { reasoning: 'Hm' },
  ),
  {
    name: '9 no content_block_start of a call',
    frames: [start(), input(full), over(), stops('tool_use'), last],
    error: { kind: 'malformed', providerMessage: expect.stringContaining('Rome') },
  },
  said('9 text after its content_block_stop', [
    start(),
    begin({ type: 'text', text: '' }),
    says('Hi'),
    over(),
    says(' there'),
    over(),
    stops('end_turn'),
    last,
  ]),
  said('9 content in message_start', [
    start({ content: [{ type: 'text', text: 'Hi there' }], stop_reason: 'end_turn' }),
    last,
  ]),
  said('9 content in message_start and deltas', [
    start({ content: [{ type: 'text', text: 'Hi' }] }),
    begin({ type: 'text', text: '' }),
    says('Hi there'),
    over(),
    stops('end_turn'),
    last,
  ]),
  {
    name: '9 a call in message_start',
    frames: [start({ content: [tool({ input: city })], stop_reason: 'tool_use' }), last],
    calls: [rome],
    finishReason: 'tool-calls',
  },
  said(
    '9 a whole message in a stream',
    [
      {
        type: 'message',
        content: [{ type: 'text', text: 'Hi there' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 12, output_tokens: 8 },
      },
    ],
    { usage: { inputTokens: 12, outputTokens: 8 } },
  ),
  said('9 a whole text in content_block_start', [
    start(),
    begin({ type: 'text', text: 'Hi there' }),
    over(),
    stops('end_turn'),
    last,
  ]),
  said('9 deltas without a type', [
    start(),
    begin({ type: 'text', text: '' }),
    grow({ text: 'Hi there' }),
    over(),
    stops('end_turn'),
    last,
  ]),
  said(
    '9 events without a type in their data',
    [
      start(),
      ...[says('Hi there'), stops('end_turn')].map(
        ({ type, ...data }) => `event: ${String(type)}\ndata: ${JSON.stringify(data)}\n\n`,
      ),
      last,
    ],
    { isSplit: true },
  ),
  said('9 a stop reason and no message_stop', [start(), says('Hi there'), stops('end_turn')]),
  said('9 a stop reason and no message_stop, reset', [start(), says('Hi there'), stops('end_turn')], { end: 'reset' }),
  said('9 a stop reason and no message_stop, open', [start(), says('Hi there'), stops('end_turn')], { end: 'open' }),
  said('9 the end mark of chat completions', [start(), says('Hi there'), stops('end_turn'), 'data: [DONE]\n\n'], {
    end: 'open',
  }),
  said('9 message_stop and no stop reason', [start(), says('Hi there'), last], { finishReason: 'unknown' }),
  said('1 an empty stop reason, broken off', [start(), says('Hi there'), stops('')], { error: cut }),
  said('1 the stop reason null, broken off', [start(), says('Hi there'), stops('null')], { error: cut }),
  said('1 a stop reason before the last words', [
    start(),
    says('Hi'),
    stops('end_turn'),
    says(' there'),
    stops('end_turn'),
    last,
  ]),
  said('1 a stop reason before the last words, broken off', [start(), says('Hi'), stops('end_turn'), says(' there')], {
    error: cut,
  }),

  {
    name: '3 half of the input',
    frames: [
      start(),
      begin({ type: 'text', text: 'Wait' }),
      over(),
      begin(tool(), 1),
      input('{"ci', 1),
      over(1),
      stops('max_tokens'),
      last,
    ],
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 none of the input',
    frames: [start(), begin(tool()), over(), stops('max_tokens'), last],
    finishReason: 'length',
  },
  {
    name: '3 half of the second input',
    frames: [
      start(),
      begin(tool()),
      input(full),
      over(),
      begin(tool({ id: 't2' }), 1),
      input('{"ci', 1),
      stops('max_tokens'),
      last,
    ],
    finishReason: 'length',
  },
  { name: '3 message_stop with half of the input', frames: [start(), begin(tool()), input('{"ci'), last], error: cut },
  {
    name: '3 invalid input and no cut',
    frames: [start(), begin(tool()), input('{city'), over(), stops('tool_use'), last],
    calls: [['weather', '{city']],
    finishReason: 'tool-calls',
  },

  failure('4 event error with text', ['event: error\ndata: upstream died\n\n'], 'upstream died'),
  failure('4 an error without a type', [start(), { error: { type: 'overloaded_error', message: 'busy' } }], 'busy', {
    status: 529,
  }),
  failure('4 an error without an error object', [{ type: 'error', code: 429, message: 'busy' }], 'busy', {
    kind: 'rate_limited',
  }),
  failure('4 detail', [{ detail: 'Not Found' }], 'Not Found'),
  failure('4 code and message', [{ code: 1302, msg: 'Too many', success: false }], 'Too many'),
  failure('4 base_resp', [{ base_resp: { status_code: 1004, status_msg: 'login fail' } }], 'login fail'),
  failure('4 bare JSON', ['{"type":"error","error":{"type":"not_found_error","message":"model"}}'], 'model', {
    status: 404,
  }),
  failure('4 bare text', ['Internal Server Error'], 'Internal Server Error'),
  failure('4 the field error', ['error: gone\n\n'], 'gone'),
  failure('4 the end mark alone', ['data: [DONE]\n\n'], '[DONE]'),
  failure('4 message_stop alone', [last], '{"type":"message_stop"}'),
  failure(
    '4 a foreign protocol',
    [{ choices: [{ delta: { content: 'Hi' } }] }, 'data: [DONE]\n\n'],
    '{"choices":[{"delta":{"content":"Hi"}}]}',
  ),
  { name: '4 plain detail', body: { detail: 'Not Found' }, error: { providerMessage: 'Not Found' } },
  { name: '4 a plain answer of another protocol', body: { choices: [] }, error: { providerMessage: '{"choices":[]}' } },
  {
    name: '9 plain content as text',
    body: { type: 'message', content: 'Hi there', stop_reason: 'end_turn' },
    text: 'Hi there',
  },
  { name: '9 an empty answer', frames: [start(), stops('end_turn'), last], text: '' },

  said(
    '5 later nulls',
    [start(), says('Hi there'), stops('end_turn', { input_tokens: null, output_tokens: 8 }), last],
    { usage: { inputTokens: 12, outputTokens: 8 } },
  ),
  said('5 later zeros', [start(), says('Hi there'), stops('end_turn', { input_tokens: 0, output_tokens: 8 }), last], {
    usage: { inputTokens: 12, outputTokens: 8 },
  }),
  said('5 no later usage', [start(), says('Hi there'), stops('end_turn', null), last], {
    usage: { inputTokens: 12, outputTokens: 1 },
  }),
  said(
    '5 numbers as text',
    [start({ usage: { input_tokens: '12' } }), says('Hi there'), stops('end_turn', { output_tokens: '8' }), last],
    { usage: { inputTokens: 12, outputTokens: 8 } },
  ),
  said('7 text pings', [
    'data: ping\n\n',
    start(),
    says('Hi there'),
    'event: ping\ndata:\n\n',
    stops('end_turn'),
    last,
  ]),
]
