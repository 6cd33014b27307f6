/** Answers of services with the Responses protocol. */
import { expect } from 'vitest'
import type { AnswerCase, Json } from './shape.ts'

const event = (type: string, more: Json = {}): Json => ({ type: `response.${type}`, ...more })
const delta = (text: string, more: Json = {}) => event('output_text.delta', { delta: text, ...more })
const message = (text: string, id = 'm1'): Json => ({ type: 'message', id, content: [{ type: 'output_text', text }] })
const call = (args: string, more: Json = {}): Json => ({
  type: 'function_call',
  id: 'f1',
  call_id: 'c1',
  name: 'weather',
  arguments: args,
  ...more,
})
const added = (item: Json, output_index = 0) => event('output_item.added', { output_index, item })
const itemDone = (item: Json, output_index = 0) => event('output_item.done', { output_index, item })
const argsDelta = (text: string, more: Json = {}) =>
  event('function_call_arguments.delta', { item_id: 'f1', output_index: 0, delta: text, ...more })
const usage = { input_tokens: 12, output_tokens: 8 }
const completed = (output: Json[] = [], more: Json = {}) =>
  event('completed', { response: { status: 'completed', output, usage, ...more } })
const rome: [string, Json] = ['weather', { city: 'Rome' }]
const full = '{"city":"Rome"}'
const done = 'data: [DONE]\n\n'
const cut = { kind: 'malformed', message: "The provider's response was cut off" } as const

const said = (name: string, frames: AnswerCase['frames'], more: Partial<AnswerCase> = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  text: 'Hi there',
  usage: { inputTokens: 12, outputTokens: 8 },
  ...more,
})
const called = (name: string, frames: AnswerCase['frames']): AnswerCase => ({
  name,
  frames: frames ?? [],
  calls: [rome],
  finishReason: 'tool-calls',
})
const failure = (name: string, frames: AnswerCase['frames'], providerMessage: string, more: Json = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  error: { providerMessage, ...more },
})

export const responsesCases: AnswerCase[] = [
  said('8 only the snapshot', [completed([message('Hi there')])]),
  said('8 the snapshot has the last words', [delta('Hi'), completed([message('Hi there')])]),
  said('8 the snapshot is empty', [delta('Hi'), delta(' there'), completed()]),
  said('8 the snapshot has no output', [
    delta('Hi there'),
    event('completed', { response: { status: 'completed', usage } }),
  ]),
  said('8 an item of the snapshot has another id', [
    delta('Hi there', { item_id: 'other' }),
    completed([message('Hi there')]),
  ]),
  said('8 text.done in place of deltas', [event('output_text.done', { item_id: 'm1', text: 'Hi there' }), completed()]),
  said('8 text.done has the last words', [delta('Hi'), event('output_text.done', { text: 'Hi there' }), completed()]),
  said('8 an empty text.done', [delta('Hi there'), event('output_text.done', { text: '' }), completed()]),
  said('8 content_part.done in place of deltas', [
    event('content_part.done', { part: { type: 'output_text', text: 'Hi there' } }),
    completed(),
  ]),
  said('8 output_item.done in place of deltas', [itemDone(message('Hi there')), completed()]),
  said('8 two messages', [
    delta('Hi'),
    itemDone(message('Hi')),
    delta(' there'),
    itemDone(message(' there', 'm2'), 1),
    completed([message('Hi'), message(' there', 'm2')]),
  ]),
  said('8 two messages, the second only in the snapshot', [
    delta('Hi'),
    itemDone(message('Hi')),
    completed([message('Hi'), message(' there', 'm2')]),
  ]),
  said('8 each text repeated by all events', [
    delta('Hi'),
    delta(' there'),
    event('output_text.done', { text: 'Hi there' }),
    event('content_part.done', { part: { type: 'output_text', text: 'Hi there' } }),
    itemDone(message('Hi there')),
    completed([message('Hi there')]),
  ]),
  said('8 `response.done` at the end', [
    delta('Hi there'),
    event('done', { response: { status: 'completed', output: [message('Hi there')], usage } }),
  ]),
  said('8 events without a type in their data', [
    'event: response.output_text.delta\ndata: {"delta":"Hi there"}\n\n',
    `event: response.completed\ndata: ${JSON.stringify({ response: { status: 'completed', usage } })}\n\n`,
  ]),
  said(
    '8 a refusal only in the snapshot',
    [completed([{ type: 'message', content: [{ type: 'refusal', refusal: 'Hi there' }] }])],
    { finishReason: 'content-filter' },
  ),
  said('8 a plain answer in a stream', [
    { object: 'response', status: 'completed', output: [message('Hi there')], usage },
  ]),
  {
    ...said('8 reasoning only in the snapshot', [
      delta('Hi there'),
      completed([
        { type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: 'Hm' }] },
        message('Hi there'),
      ]),
    ]),
    reasoning: 'Hm',
  },
  {
    ...said('8 reasoning by its done event', [
      event('reasoning_summary_text.done', { item_id: 'r1', text: 'Hm' }),
      delta('Hi there'),
      completed(),
    ]),
    reasoning: 'Hm',
  },
  {
    ...said('8 reasoning repeated by all events', [
      event('reasoning_summary_text.delta', { item_id: 'r1', delta: 'Hm' }),
      event('reasoning_summary_text.done', { item_id: 'r1', text: 'Hm' }),
      itemDone({ type: 'reasoning', id: 'r1', summary: [{ text: 'Hm' }] }),
      delta('Hi there'),
      completed([{ type: 'reasoning', id: 'r1', summary: [{ text: 'Hm' }] }, message('Hi there')]),
    ]),
    reasoning: 'Hm',
  },

  called('8 a call only in the snapshot', [completed([call(full)])]),
  called('8 arguments only in arguments.done', [
    added(call('')),
    event('function_call_arguments.done', { item_id: 'f1', arguments: full }),
    itemDone(call('')),
    completed([call('')]),
  ]),
  called('8 arguments only in deltas', [
    added(call('')),
    argsDelta('{"city":'),
    argsDelta('"Rome"}'),
    itemDone(call('')),
    completed([call('')]),
  ]),
  called('8 arguments only in the snapshot', [added(call('')), itemDone(call('')), completed([call(full)])]),
  called('8 no output_item.done', [added(call('')), argsDelta(full), completed()]),
  called('8 no output_item.added', [argsDelta(full), itemDone(call(full)), completed()]),
  called('8 arguments as an object', [completed([{ ...call(''), arguments: { city: 'Rome' } }])]),
  called('8 ids that change with each event', [
    added(call('')),
    argsDelta('{"city":', { item_id: 'f2' }),
    argsDelta('"Rome"}', { item_id: 'f3' }),
    itemDone(call(full, { id: 'f4' })),
    completed([call(full, { id: 'f5' })]),
  ]),
  called('8 no ids', [
    added({ ...call(''), id: undefined }),
    argsDelta(full, { item_id: undefined }),
    itemDone({ ...call(''), id: undefined }),
    completed(),
  ]),
  {
    name: '8 two calls, the second only in the snapshot',
    frames: [itemDone(call(full)), completed([call(full), call('{}', { id: 'f2', call_id: 'c2', name: 'stop' })])],
    calls: [rome, ['stop', {}]],
    finishReason: 'tool-calls',
  },
  {
    name: '8 arguments that belong to no call',
    frames: [argsDelta(full), completed()],
    error: { kind: 'malformed', providerMessage: expect.stringContaining('Rome') },
  },

  {
    name: '3 half of the arguments',
    frames: [
      delta('Wait'),
      added(call(''), 1),
      argsDelta('{"ci', { output_index: 1 }),
      event('incomplete', {
        response: {
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [message('Wait'), call('{"ci', { status: 'incomplete' })],
        },
      }),
    ],
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 half of the arguments, plain',
    body: {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [message('Wait'), call('{"ci')],
    },
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 invalid arguments and no cut',
    frames: [completed([call('{city')])],
    calls: [['weather', '{city']],
    finishReason: 'tool-calls',
  },

  failure('4 event error with text', ['event: error\ndata: upstream died\n\n'], 'upstream died'),
  failure('4 an error without an error object', [{ type: 'error', code: 'server_error', message: 'Sorry' }], 'Sorry', {
    status: 500,
  }),
  failure('4 detail', [{ detail: 'Not Found' }], 'Not Found'),
  failure('4 code and message', [{ code: 429, message: 'busy' }], 'busy', { kind: 'rate_limited' }),
  failure('4 base_resp', [{ base_resp: { status_code: 1004, status_msg: 'login fail' } }], 'login fail'),
  failure(
    '4 an error in the completed response',
    [event('completed', { response: { status: 'failed', error: { code: 'server_error', message: 'Sorry' } } })],
    'Sorry',
    { status: 500 },
  ),
  failure(
    '4 a failed response without an error',
    [event('failed', { response: { id: 'r', status: 'failed' } })],
    '{"id":"r","status":"failed"}',
  ),
  failure(
    '4 a canceled response',
    [event('cancelled', { response: { id: 'r', status: 'cancelled' } })],
    '{"id":"r","status":"cancelled"}',
  ),
  failure('4 bare JSON', ['{"error":{"message":"No such model","code":404}}'], 'No such model', { status: 404 }),
  failure('4 bare text', ['Internal Server Error'], 'Internal Server Error'),
  failure('4 the field error', ['error: gone\n\n'], 'gone'),
  failure('4 the end mark alone', [done], '[DONE]'),
  failure(
    '4 a foreign protocol',
    [{ choices: [{ delta: { content: 'Hi' } }] }, done],
    '{"choices":[{"delta":{"content":"Hi"}}]}',
  ),
  failure('4 a completed response without a response', [event('completed'), done], '{"type":"response.completed"}'),
  { name: '4 text and the end mark, no last event', frames: [delta('Hi'), done], text: 'Hi', error: cut },
  { name: '4 plain detail', body: { detail: 'Not Found' }, error: { providerMessage: 'Not Found' } },
  {
    name: '4 a plain failure without an error',
    body: { status: 'failed', output: [] },
    error: { providerMessage: '{"status":"failed","output":[]}' },
  },

  said('5 numbers as text', [completed([message('Hi there')], { usage: { input_tokens: '12', output_tokens: '8' } })]),
  said('5 a later null', [
    event('in_progress', { response: { usage } }),
    delta('Hi there'),
    completed([], { usage: null }),
  ]),
  said('7 an open connection after the last event', [delta('Hi there'), completed()], { end: 'open' }),
  said('7 text pings', ['data: ping\n\n', delta('Hi there'), 'data:\n\n', completed()], { isSplit: true }),
]
