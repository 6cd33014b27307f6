/** Answers of services and proxies with Anthropic's protocol. */
import { expect } from 'vitest'
import {
  type AnswerCase,
  type Cases,
  cut,
  done,
  echoed,
  type Frame,
  fails,
  full,
  type Json,
  type Outcome,
  oneText,
  rome,
  tokens,
  uncarried,
  zurich,
} from './shape.ts'

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
const end = [stops('end_turn'), last]
const text = (value = ''): Json => ({ type: 'text', text: value })
const tool = (more: Json = {}): Json => ({ type: 'tool_use', id: 't1', name: 'weather', input: {}, ...more })
/** A block of text, and a block of a call. */
const spoken = (value: string, index = 0) => [begin(text(), index), says(value, index), over(index)]
const used = (name: string, args: string) => [begin(tool({ name }), 1), input(args, 1), over(1)]
const plain = (content: unknown, stop_reason = 'end_turn', more: Json = {}) => ({
  type: 'message',
  content,
  stop_reason,
  ...more,
})
const city = { city: 'Rome' }
const unnumbered = (...frames: Json[]) => frames.map((frame) => ({ ...frame, index: undefined }))

const said = (...sent: Frame[]): AnswerCase => ({ sent, text: 'Hi there' })
const asked: Outcome = { calls: [rome], finishReason: 'tool-calls' }
const called = (...frames: Json[]): AnswerCase => ({ sent: [...frames, stops('tool_use'), last], ...asked })

const counted = { ...tokens(100, 20), totalTokens: 120, cachedInputTokens: 60, promptTokens: 100, completionTokens: 20 }
export const wholeMessage = {
  sent: [
    start({
      usage: { input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60, output_tokens: 2 },
    }),
    ...[{ type: 'ping' }, begin({ type: 'thinking', thinking: '', signature: '' })],
    grow({ type: 'thinking_delta', thinking: 'Die Nutzerin grüßt' }),
    ...['EqQB', 'CgIYAg=='].map((signature) => grow({ type: 'signature_delta', signature })),
    ...[over(), begin({ type: 'redacted_thinking', data: 'EmwKAhgB' }, 1), over(1)],
    ...[begin(text(), 2), says('Grüße 👋🏽 ', 2), says('\ud83d', 2), says('\ude00.', 2), over(2)],
    ...[begin(tool({ name: 'f' }), 3), input('', 3), input('{"stadt":"Zü', 3), input('rich"}', 3), over(3)],
    ...[stops('tool_use', { output_tokens: 20, output_tokens_details: { thinking_tokens: 6 } }), last],
  ],
  chunks: [
    { type: 'reasoning-delta', text: 'Die Nutzerin grüßt' },
    { type: 'reasoning-end', seal: { signature: 'EqQBCgIYAg==', provider: 'Main' } },
    { type: 'redacted-reasoning', data: 'EmwKAhgB', provider: 'Main' },
    { type: 'text-delta', text: 'Grüße 👋🏽 ' },
    { type: 'text-delta', text: '😀.' },
    { type: 'tool-input-start', id: 't1', toolName: 'f' },
    { type: 'tool-input-delta', id: 't1', delta: '{"stadt":"Zü' },
    { type: 'tool-input-delta', id: 't1', delta: 'rich"}' },
    { type: 'tool-call', id: 't1', toolName: 'f', ...zurich },
    { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 30, usage: { ...counted, reasoningTokens: 6 } },
  ],
}

const upload = { type: 'container_upload' }
const schema = { type: 'object', properties: {} }
const errorAfter = (type: string, error: AnswerCase['error']): AnswerCase => ({
  sent: [start(), ...spoken('a'), { type: 'error', error: { type, message: 'Sorry' } }],
  text: 'a',
  error: { ...error, providerMessage: 'Sorry' },
})
const malformed = (sent: string): Cases => ({ [sent]: { sent, error: { kind: 'malformed' } } })

/** Chunks other than text, calls and usage. */
const contents: Cases = {
  'all of a stream': wholeMessage,
  'all of a plain answer': {
    sent: plain(
      [{ type: 'thinking', thinking: 'hm', signature: 'sig' }, text('hi'), tool({ input: { a: 1 } })],
      'tool_use',
      { usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 3 } },
    ),
    chunks: [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { signature: 'sig' } },
      { type: 'text-delta', text: 'hi' },
      { type: 'tool-input-start' },
      { type: 'tool-input-delta', delta: '{"a":1}' },
      { type: 'tool-call', args: { a: 1 } },
      { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 3, usage: tokens(4, 2) },
    ],
  },
  'text beside an unknown frame': {
    sent: [start(), { type: 'tomorrow', index: 9 }, ...spoken('hi', 1), ...end],
    chunks: oneText('hi'),
  },
  'a structured answer as text, without the text around it': {
    schema,
    sent: [start(), ...spoken('Here:'), ...used('structured_answer', '{"a":1}'), stops('tool_use'), last],
    chunks: oneText('{"a":1}'),
  },
  'a structured answer that is not an object, unwrapped': {
    schema: { type: 'array' },
    sent: [start(), ...used('structured_answer', '{"answer":[1,2]}'), stops('tool_use'), last],
    chunks: oneText('[1,2]'),
  },
  'the text if the structured answer is missing': {
    schema,
    sent: [start(), ...spoken('{"a":1}'), ...end],
    chunks: oneText('{"a":1}'),
  },
  'calls of the prompt’s tools next to a schema': {
    schema,
    sent: [start(), ...used('f', '{}'), stops('tool_use'), last],
    chunks: [{}, {}, { type: 'tool-call', toolName: 'f' }, { finishReason: 'tool-calls' }],
  },
  'a rate limit': errorAfter('rate_limit_error', { kind: 'rate_limited', status: 429 }),
  'a refused request': errorAfter('invalid_request_error', { kind: 'rejected', status: 400 }),
  'another error': errorAfter('another_error', { kind: 'unavailable', status: undefined }),
  ...malformed('{"type":"message"}'),
  ...malformed('null'),
  ...uncarried('only an unknown block', 'container_upload', [begin(upload), over(), ...end], plain([upload])),
  ...uncarried(
    'a call of another protocol beside text',
    'function_call',
    [...spoken('a'), begin({ type: 'function_call' }, 1), ...end],
    plain([text('a'), { type: 'function_call' }]),
  ),
  'a block beside text': { sent: plain([{ type: 'server_tool_use' }, text('Hi')]), chunks: oneText('Hi') },
}

const given = (more: Json, ...frames: Json[]) => [start(), begin(tool(more)), ...frames, over()]
/** A failure with the words of the provider. */
const unread = (...sent: Json[]): AnswerCase => ({
  sent: sent.length === 1 ? (sent[0] as Json) : sent,
  error: { kind: 'malformed', providerMessage: expect.stringMatching(/t1|5|Rome|content_block/) },
})
const blocks: Cases = {
  '9 complete input in content_block_start': called(...given({ input: city })),
  '9 input as text in content_block_start': called(...given({ input: full })),
  '9 complete input in content_block_start and deltas': called(...given({ input: city }, input(full))),
  '9 no content_block_stop': called(start(), begin(tool()), input('{"city":'), input('"Rome"}')),
  '9 no content_block_stop, same index for the next block': called(start(), begin(text()), begin(tool()), input(full)),
  '9 no message_start': called(begin(tool()), input(full), over()),
  '9 no indexes': called(start(), ...unnumbered(begin({ type: 'text' }), over(), begin(tool()), input(full), over())),
  '9 no content_block_start of a text': said(start(), says('Hi'), says(' there'), over(), ...end),
  '9 no content_block_start of thinking': {
    ...said(start(), grow({ type: 'thinking_delta', thinking: 'Hm' }), over(), ...spoken('Hi there', 1), ...end),
    reasoning: 'Hm',
  },
  '9 no content_block_start of a call': {
    sent: [start(), input(full), over(), stops('tool_use'), last],
    error: { kind: 'malformed', providerMessage: expect.stringContaining('Rome') },
  },
  '9 a call without a name': unread(start(), begin(tool({ name: undefined })), input(full), over()),
  '9 a plain call without a name': unread(plain([tool({ name: undefined, input: city })], 'tool_use')),
  '9 a call without an id': {
    ...called(...given({ id: undefined, input: city })),
    chunks: [{ id: 'call_0' }, {}, { type: 'tool-call', id: 'call_0' }, { type: 'finish' }],
  },
  '9 input as an object in a delta': called(
    ...given({}, grow({ type: 'input_json_delta', partial_json: { city: 'Rome' } })),
  ),
  '9 input as a number in a delta': unread(start(), begin(tool()), grow({ type: 'input_json_delta', partial_json: 5 })),
  '9 input for a text': unread(start(), begin(text()), input(full)),
  '9 text as a number': unread(start(), begin({ type: 'text', text: 5 })),
  '9 text as a number in a delta': unread(start(), begin(text()), grow({ type: 'text_delta', text: 5 })),
  '9 text under another name in a delta': unread(
    ...[start(), begin(text()), grow({ type: 'text_delta', content: 'Rome' }), over(), ...end],
  ),
  '9 a delta of an unknown type alone': unread(
    ...[start(), begin(text()), grow({ type: 'tomorrow', city: 'Rome' }), over(), ...end],
  ),
  '9 a delta of an unknown type beside text': said(
    ...[start(), begin(text()), grow({ type: 'tomorrow', city: 'Rome' }), says('Hi there'), over(), ...end],
  ),
  '9 two calls with the same id': {
    ...called(...given({ input: city }), begin(tool({ name: 'stop' }), 1), over(1)),
    chunks: [
      ...[{ id: 't1' }, {}, { id: 'call_1' }],
      ...['t1', 'call_1'].map((id) => ({ type: 'tool-call', id })),
      { type: 'finish' },
    ],
  },
  '9 input under another name': unread(plain([{ type: 'tool_use', id: 't1', name: 'weather', arguments: city }])),
  '9 text in message_delta': unread(
    start(),
    { ...stops('end_turn'), delta: { stop_reason: 'end_turn', content: 'Rome' } },
    last,
  ),
  '9 a delta that is text': unread(
    ...[start(), begin(text()), { type: 'content_block_delta', index: 0, delta: 'Rome' }, over(), ...end],
  ),
  '9 a delta without its object': unread(
    ...[start(), begin(text()), { type: 'content_block_delta', text: 'Rome' }, over(), ...end],
  ),
  '9 thinking as a number': unread(start(), begin({ type: 'thinking', thinking: 5 })),
  '9 plain content of texts': { sent: plain(['Hi', ' there']), text: 'Hi there' },
  '9 plain content of numbers': unread(plain([5])),
  '9 a plain text as an object': unread(plain([{ type: 'text', text: { value: 'Rome' } }])),
  '9 a plain text without a type': { sent: plain([{ text: 'Hi there' }]), text: 'Hi there' },
  '9 a block without a type': unread(plain([{ city: 'Rome' }], 'max_tokens')),
  '9 no content block': unread(start(), { type: 'content_block_start', index: 0 }, ...end),
  '9 text after its content_block_stop': said(start(), ...spoken('Hi'), says(' there'), over(), ...end),
  '9 content in message_start': said(start({ content: [text('Hi there')], stop_reason: 'end_turn' }), last),
  '9 content in message_start and deltas': said(start({ content: [text('Hi')] }), ...spoken('Hi there'), ...end),
  '9 a call in message_start': {
    sent: [start({ content: [tool({ input: city })], stop_reason: 'tool_use' }), last],
    ...asked,
  },
  '9 a whole message in a stream': {
    ...said(plain([text('Hi there')], 'end_turn', { usage: { input_tokens: 12, output_tokens: 8 } })),
    usage: tokens(12, 8),
  },
  '9 a whole text in content_block_start': said(start(), begin(text('Hi there')), over(), ...end),
  '9 deltas without a type': said(start(), begin(text()), grow({ text: 'Hi there' }), over(), ...end),
  '9 events without a type in their data': {
    ...said(
      start(),
      ...[says('Hi there'), stops('end_turn')].map(
        ({ type, ...data }) => `event: ${String(type)}\ndata: ${JSON.stringify(data)}\n\n`,
      ),
      last,
    ),
    isSplit: true,
  },
  '9 a stop reason and no message_stop': said(start(), says('Hi there'), stops('end_turn')),
  '9 the end mark of chat completions': {
    ...said(start(), says('Hi there'), stops('end_turn'), done),
    end: 'open',
  },
  '9 message_stop and no stop reason': { ...said(start(), says('Hi there'), last), finishReason: 'unknown' },
  '9 plain content as text': { sent: plain('Hi there'), text: 'Hi there' },
  '9 an empty answer': { sent: [start(), ...end], text: '' },
}

const counts = (usage: Json | null, input: number, output: number, first?: Json): AnswerCase => ({
  ...said(start(first && { usage: first }), says('Hi there'), stops('end_turn', usage), last),
  usage: tokens(input, output),
})
const lost = (sent: AnswerCase['sent']): AnswerCase => ({
  sent,
  hasTools: true,
  error: {
    kind: 'malformed',
    message: 'The provider announced a tool call, but sent none',
    providerMessage: expect.stringContaining('"stop_reason":"tool_use"'),
  },
})
const others: Cases = {
  '1 an empty stop reason, broken off': { ...said(start(), says('Hi there'), stops('')), error: cut },
  '1 the stop reason null, broken off': { ...said(start(), says('Hi there'), stops('null')), error: cut },
  '1 a stop reason before the last words': said(start(), says('Hi'), stops('end_turn'), says(' there'), ...end),
  '1 a stop reason before the last words, broken off': {
    ...said(start(), says('Hi'), stops('end_turn'), says(' there')),
    error: cut,
  },

  '1 a stop reason of calls without a call': lost([start(), ...spoken('I look.'), stops('tool_use'), last]),
  '1 a stop reason of calls without a call, plain': lost(plain([text('I look.')], 'tool_use')),
  '1 a stop reason of calls without anything': lost([start(), stops('tool_use'), last]),
  '1 a stop reason of calls without anything, no tools offered': {
    ...lost([start(), stops('tool_use'), last]),
    hasTools: false,
  },
  '1 a stop reason of calls without the structured answer': {
    ...lost([start(), ...spoken('I look.'), stops('tool_use'), last]),
    hasTools: false,
    schema,
  },
  '1 a stop reason of calls after text, no tools offered': said(
    ...[start(), ...spoken('Hi there'), stops('tool_use'), last],
  ),
  '1 message_stop with the head of a call': { sent: [start(), begin(tool()), over(), last], error: cut },

  '3 half of the input': {
    sent: [start(), begin(text('Wait')), over(), ...used('weather', '{"ci'), stops('max_tokens'), last],
    text: 'Wait',
    finishReason: 'length',
  },
  '3 none of the input': { sent: [...given({}), stops('max_tokens'), last], finishReason: 'length' },
  '3 half of the second input': {
    sent: [...given({}, input(full)), begin(tool({ id: 't2' }), 1), input('{"ci', 1), stops('max_tokens'), last],
    finishReason: 'length',
  },
  '3 message_stop with half of the input': { sent: [start(), begin(tool()), input('{"ci'), last], error: cut },
  '3 invalid input and no cut': { ...called(...given({}, input('{city'))), calls: [['weather', '{city']] },

  '4 an error without a type': fails([start(), { error: { type: 'overloaded_error', message: 'busy' } }], 'busy', 529),
  '4 an error without an error object': {
    sent: [{ type: 'error', code: 429, message: 'busy' }],
    error: { kind: 'rate_limited', providerMessage: 'busy' },
  },
  '4 detail': fails([{ detail: 'Not Found' }], 'Not Found'),
  '4 bare JSON': fails(['{"type":"error","error":{"type":"not_found_error","message":"model"}}'], 'model', 404),
  '4 message_stop alone': echoed(last),
  '4 a foreign protocol': echoed({ choices: [{ delta: { content: 'Hi' } }] }, done),
  '4 a plain answer of another protocol': fails({ choices: [] }, '{"choices":[]}'),

  '5 later nulls': counts({ input_tokens: null, output_tokens: 8 }, 12, 8),
  '5 later zeros': counts({ input_tokens: 0, output_tokens: 8 }, 12, 8),
  '5 no later usage': counts(null, 12, 1),
  '5 later counts in place of earlier ones': {
    ...counts({ input_tokens: 11, cache_read_input_tokens: 4, output_tokens: 9 }, 15, 9, {
      input_tokens: 10,
      cache_read_input_tokens: 4,
      output_tokens: 1,
    }),
    usage: { ...tokens(15, 9), cachedInputTokens: 4 },
  },
  '5 numbers as text': counts({ output_tokens: '8' }, 12, 8, { input_tokens: '12' }),
}

export const anthropicCases = [contents, blocks, others]
