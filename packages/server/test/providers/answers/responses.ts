/** Answers of services with the Responses protocol. */
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
  oneText,
  rome,
  source,
  tokens,
  uncarried,
  zurich,
} from './shape.ts'

const event = (type: string, more: Json = {}): Json => ({ type: `response.${type}`, ...more })
const delta = (text: string, more: Json = {}) => event('output_text.delta', { delta: text, ...more })
const words = (text: string): Json => ({ type: 'output_text', text })
const message = (text: string, id = 'm1'): Json => ({ type: 'message', id, content: [words(text)] })
const call = (args: string, more: Json = {}): Json => ({
  ...{ type: 'function_call', id: 'f1', call_id: 'c1', name: 'weather', arguments: args },
  ...more,
})
const added = (item: Json, output_index = 0) => event('output_item.added', { output_index, item })
const itemDone = (item: Json, output_index = 0) => event('output_item.done', { output_index, item })
const argsDelta = (text: unknown, more: Json = {}) =>
  event('function_call_arguments.delta', { item_id: 'f1', output_index: 0, delta: text, ...more })
const usage = { input_tokens: 12, output_tokens: 8 }
const completed = (output: Json[] = [], more: Json = {}) =>
  event('completed', { response: { status: 'completed', output, usage, ...more } })
const there = message('Hi there')

const said = (...sent: Frame[]): AnswerCase => ({ sent, text: 'Hi there', usage: tokens(12, 8) })
const thought = (...sent: Frame[]): AnswerCase => ({ ...said(...sent), reasoning: 'Hm' })
const called = (...sent: Frame[]): AnswerCase => ({ sent, calls: [rome], finishReason: 'tool-calls' })

const thinking = (...texts: string[]): Json => ({
  ...{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAAA' },
  summary: texts.map((text) => ({ type: 'summary_text', text })),
})
const summary = (summary_index: number, text: string) => [
  event('reasoning_summary_part.added', { item_id: 'rs_1', summary_index }),
  event('reasoning_summary_text.delta', { item_id: 'rs_1', summary_index, delta: text }),
]
const page = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 1 }
const greeting = { type: 'message', content: [{ ...words('Grüße 👋🏽'), annotations: [page] }] }
const drawn = call(zurich.rawArgs, { call_id: 'call_9', name: 'f' })
const counts = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}
const counted = { ...tokens(100, 20), totalTokens: 120, cachedInputTokens: 60, promptTokens: 100, completionTokens: 20 }
const thoughtEnd = { type: 'reasoning-end', id: 'rs_1', seal: { signature: 'gAAAAA', provider: 'Main' } }
const lastChunks = [
  { type: 'tool-call', id: 'call_9', toolName: 'f', ...zurich },
  { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 10, usage: { ...counted, reasoningTokens: 5 } },
]

export const wholeResponse = {
  sent: [
    event('created', { response: { id: 'resp_1', status: 'in_progress' } }),
    added({ type: 'reasoning', id: 'rs_1', summary: [] }),
    ...[...summary(0, 'Erst'), ...summary(1, 'dann'), itemDone(thinking())],
    ...[delta('Grüße '), delta('👋🏽'), event('output_text.annotation.added', { item_id: 'm1', annotation: page })],
    ...[event('output_text.done', { item_id: 'm1', text: 'Grüße 👋🏽' }), itemDone(greeting)],
    ...[added({ ...drawn, arguments: '' }), argsDelta('{"stadt":"Zü'), argsDelta('rich"}')],
    ...[event('function_call_arguments.done', { item_id: 'f1', arguments: zurich.rawArgs }), itemDone(drawn)],
    completed([thinking(), greeting, drawn], { usage: counts }),
    // Some services send only the ids of items.
  ].map((frame) => ({ ...frame, output_index: undefined })),
  chunks: [
    ...['Erst', '\n\n', 'dann'].map((text) => ({ type: 'reasoning-delta', text, id: 'rs_1' })),
    thoughtEnd,
    { type: 'text-delta', text: 'Grüße ' },
    { type: 'text-delta', text: '👋🏽' },
    source,
    { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
    { type: 'tool-input-delta', id: 'call_9', delta: '{"stadt":"Zü' },
    { type: 'tool-input-delta', id: 'call_9', delta: 'rich"}' },
    ...lastChunks,
  ],
}

const response = (...output: (Json | string)[]) => ({ status: 'completed', output })
const items = (...output: Json[]) => [...output.map((item) => itemDone(item)), completed(output)]
const cutAt = (...output: Json[]) => ({
  ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  output,
})
const clicked = [message('I will click.'), { type: 'computer_call', id: 'x' }]
const sound = { type: 'message', content: [{ type: 'output_audio', data: 'AAAA', transcript: 'Hi' }] }
const hologram = { type: 'hologram' }

/** Chunks other than text, calls and usage. */
const contents: Cases = {
  'all of a stream': wholeResponse,
  'all of a plain answer': {
    sent: { ...response(thinking('Erst', 'dann'), greeting, drawn), usage: counts },
    chunks: [
      { type: 'reasoning-delta', text: 'Erst\n\ndann', id: 'rs_1' },
      thoughtEnd,
      { type: 'text-delta', text: 'Grüße 👋🏽' },
      source,
      { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
      { type: 'tool-input-delta', id: 'call_9', delta: zurich.rawArgs },
      ...lastChunks,
    ],
  },
  ...uncarried('a computer call', 'computer_call', items(...clicked), response(...clicked)),
  ...uncarried('sound of Responses', 'output_audio', items(sound), response(sound)),
  ...uncarried('only an unknown item', 'hologram', items(hologram), response(hologram)),
  'earlier text': {
    sent: [delta('Look'), ...items({ type: 'shell_call' })],
    text: 'Look',
    error: { kind: 'uncarried', contentType: 'shell_call' },
  },
  'an item beside text': {
    sent: response({ type: 'code_interpreter_call', id: 'x' }, there),
    chunks: oneText('Hi there'),
  },
  'an incomplete answer of unsupported content': {
    sent: cutAt({ type: 'web_search_call' }),
    chunks: [{ type: 'finish', finishReason: 'length' }],
  },
}

const unnamed = { id: undefined }
const merged: Cases = {
  '8 only the snapshot': said(completed([there])),
  '8 the snapshot has the last words': said(delta('Hi'), completed([there])),
  '8 the snapshot is empty': said(delta('Hi'), delta(' there'), completed()),
  '8 the snapshot has no output': said(
    delta('Hi there'),
    event('completed', { response: { status: 'completed', usage } }),
  ),
  '8 an item of the snapshot has another id': said(delta('Hi there', { item_id: 'other' }), completed([there])),
  '8 text.done in place of deltas': said(event('output_text.done', { item_id: 'm1', text: 'Hi there' }), completed()),
  '8 text.done has the last words': said(delta('Hi'), event('output_text.done', { text: 'Hi there' }), completed()),
  '8 an empty text.done': said(delta('Hi there'), event('output_text.done', { text: '' }), completed()),
  '8 content_part.done in place of deltas': said(event('content_part.done', { part: words('Hi there') }), completed()),
  '8 output_item.done in place of deltas': said(itemDone(there), completed()),
  '8 two messages': said(
    ...[delta('Hi'), itemDone(message('Hi')), delta(' there'), itemDone(message(' there', 'm2'), 1)],
    completed([message('Hi'), message(' there', 'm2')]),
  ),
  '8 two messages, the second only in the snapshot': said(
    ...[delta('Hi'), itemDone(message('Hi')), completed([message('Hi'), message(' there', 'm2')])],
  ),
  '8 each text repeated by all events': said(
    ...[delta('Hi'), delta(' there'), event('output_text.done', { text: 'Hi there' })],
    ...[event('content_part.done', { part: words('Hi there') }), itemDone(there), completed([there])],
  ),
  '8 `response.done` at the end': said(delta('Hi there'), event('done', { response: { ...response(there), usage } })),
  '8 events without a type in their data': said(
    'event: response.output_text.delta\ndata: {"delta":"Hi there"}\n\n',
    `event: response.completed\ndata: ${JSON.stringify({ response: { status: 'completed', usage } })}\n\n`,
  ),
  '8 a refusal only in the snapshot': {
    ...said(completed([{ type: 'message', content: [{ type: 'refusal', refusal: 'Hi there' }] }])),
    finishReason: 'content-filter',
  },
  '8 a refusal': {
    ...said(event('refusal.delta', { item_id: 'm1', delta: 'Hi there' }), completed()),
    finishReason: 'content-filter',
  },
  '8 a plain answer in a stream': said({ object: 'response', ...response(there), usage }),
  '8 reasoning only in the snapshot': thought(
    delta('Hi there'),
    completed([{ type: 'reasoning', id: 'r1', summary: [{ type: 'summary_text', text: 'Hm' }] }, there]),
  ),
  '8 reasoning by its done event': thought(
    ...[event('reasoning_summary_text.done', { item_id: 'r1', text: 'Hm' }), delta('Hi there'), completed()],
  ),
  '8 reasoning repeated by all events': thought(
    event('reasoning_summary_text.delta', { item_id: 'r1', delta: 'Hm' }),
    event('reasoning_summary_text.done', { item_id: 'r1', text: 'Hm' }),
    ...[itemDone({ type: 'reasoning', id: 'r1', summary: [{ text: 'Hm' }] }), delta('Hi there')],
    completed([{ type: 'reasoning', id: 'r1', summary: [{ text: 'Hm' }] }, there]),
  ),

  '8 a call only in the snapshot': called(completed([call(full)])),
  '8 arguments only in arguments.done': called(
    ...[added(call('')), event('function_call_arguments.done', { item_id: 'f1', arguments: full })],
    ...[itemDone(call('')), completed([call('')])],
  ),
  '8 arguments only in deltas': called(
    ...[added(call('')), argsDelta('{"city":'), argsDelta('"Rome"}'), itemDone(call('')), completed([call('')])],
  ),
  '8 arguments only in the snapshot': called(added(call('')), itemDone(call('')), completed([call(full)])),
  '8 no output_item.done': called(added(call('')), argsDelta(full), completed()),
  '8 no output_item.added': called(argsDelta(full), itemDone(call(full)), completed()),
  '8 arguments as an object': called(completed([call('', { arguments: { city: 'Rome' } })])),
  '8 ids that change with each event': called(
    ...[added(call('')), argsDelta('{"city":', { item_id: 'f2' }), argsDelta('"Rome"}', { item_id: 'f3' })],
    ...[itemDone(call(full, { id: 'f4' })), completed([call(full, { id: 'f5' })])],
  ),
  '8 no ids': called(
    ...[added(call('', unnamed)), argsDelta(full, { item_id: undefined }), itemDone(call('', unnamed)), completed()],
  ),
  '8 two calls, the second only in the snapshot': {
    ...called(itemDone(call(full)), completed([call(full), call('{}', { id: 'f2', call_id: 'c2', name: 'stop' })])),
    calls: [rome, ['stop', {}]],
  },
  '8 arguments that belong to no call': {
    sent: [argsDelta(full), completed()],
    error: { kind: 'malformed', providerMessage: expect.stringContaining('Rome') },
  },
}

const unreadable = (sent: AnswerCase['sent'], words = 'Rome'): AnswerCase => ({
  sent,
  error: { kind: 'malformed', providerMessage: expect.stringContaining(words) },
})
const holding = (content: unknown): Json => ({ type: 'message', id: 'm1', content })
const forms: Cases = {
  '8 a message whose content is text': said(completed([holding('Hi there')])),
  '8 a plain message whose content is text': { sent: response(holding('Hi there')), text: 'Hi there' },
  '8 a message of texts': { sent: response(holding(['Hi', ' there'])), text: 'Hi there' },
  '8 a message whose content is a number': unreadable(response(holding(5)), '5'),
  '8 a message whose content is an object': unreadable(response(holding({ city: 'Rome' }))),
  '8 a message with a number as text': unreadable(response(holding([{ type: 'output_text', text: 5 }])), '5'),
  '8 an item of the stream whose content is an object': unreadable([itemDone(holding({ city: 'Rome' })), completed()]),
  ...uncarried(
    'a call of another protocol beside text',
    'tool_use',
    items(there, { type: 'tool_use' }),
    response(there, { type: 'tool_use' }),
  ),
  ...uncarried(
    'only an unknown part of a message',
    'video',
    items(holding([{ type: 'video', url: 'https://a.test' }])),
    response(holding([{ type: 'video', url: 'https://a.test' }])),
  ),
  '8 an unknown part beside text': {
    sent: response(holding([{ type: 'video' }, words('Hi there')])),
    text: 'Hi there',
  },
  '8 a text delta that is an object': unreadable([
    event('output_text.delta', { delta: { city: 'Rome' } }),
    completed(),
  ]),
  '8 a reasoning delta that is a number': unreadable([
    event('reasoning_text.delta', { delta: 5, item_id: 'Rome' }),
    completed(),
  ]),
  '8 an arguments delta that is a number': unreadable([
    added(call('')),
    argsDelta(5, { item_id: 'Rome' }),
    completed(),
  ]),
  '8 arguments as an object in arguments.done': called(
    ...[added(call('')), event('function_call_arguments.done', { item_id: 'f1', arguments: { city: 'Rome' } })],
    completed(),
  ),
  '8 arguments as a number': { ...called(completed([call('', { arguments: 5 })])), calls: [['weather', '5']] },
  '8 a call without a name': unreadable(response(call(full, { name: undefined }))),
  '8 items that are no objects': unreadable(response('Rome')),
  '8 an output that is an object': unreadable([completed({ city: 'Rome' } as never)]),
  '8 only `output_text`': said(completed([], { output_text: 'Hi there' })),
  '8 `output_text` beside messages': said(completed([there], { output_text: 'Hi there' })),
  '8 text and an unknown item without a message': said(
    ...[delta('Hi there'), itemDone({ type: 'web_search_call' }), completed()],
  ),
  '8 an error event of the protocol’s form': fails([delta('Hi'), event('error', { message: 'Lost' })], 'Lost'),
  '8 two calls with the same id': unreadable(response(call(full), call('{"city":"Bern"}', { id: 'f2' })), 'Bern'),
  '8 the same call written in another way': called(
    itemDone(call(full)),
    completed([thinking(), call('{ "city": "Rome" }')]),
  ),
  '8 a text delta under another name': unreadable([event('output_text.delta', { text: 'Rome' }), completed()]),
  '8 an arguments delta under another name': unreadable([
    added(call('')),
    event('function_call_arguments.delta', { output_index: 0, arguments: full }),
    completed(),
  ]),
  '8 an incomplete call in a completed response': {
    sent: { ...response(there, call('', { status: 'incomplete' })) },
    text: 'Hi there',
    finishReason: 'other',
  },
  '8 a name that is an object': unreadable(response(call(full, { name: { of: 'Rome' } }))),
  '8 a completed event of a queued response': fails(
    [completed([], { status: 'queued', id: 'r', usage: null })],
    '{"status":"queued","output":[],"usage":null,"id":"r"}',
  ),
  '8 a completed event with an old status': said(delta('Hi there'), completed([there], { status: 'in_progress' })),
  '8 an item without a type': unreadable(response({ id: 'Rome' })),
  '8 an unknown event alone': unreadable([event('text.delta', { delta: 'Rome' }), completed()]),
  '8 an unknown event beside text': said(event('text.delta', { delta: 'Rome' }), delta('Hi there'), completed()),
  '8 an incomplete event without a status': {
    sent: [delta('Hi there'), event('incomplete', { response: { usage } })],
    text: 'Hi there',
    finishReason: 'other',
  },
  '8 an incomplete event without a response, after a call': {
    sent: [delta('Hi there'), added(call('')), argsDelta('{"ci'), event('incomplete')],
    text: 'Hi there',
    finishReason: 'other',
  },
  '8 an unknown status': { sent: { ...response(there), status: 'expired' }, text: 'Hi there', finishReason: 'other' },
  '8 no status': { sent: { ...response(there), status: undefined }, text: 'Hi there' },
  '8 an error as text': fails({ ...response(), error: 'Rome' }, 'Rome'),
  '8 an error as text in the completed response': fails([completed([], { error: 'Rome' })], 'Rome'),
  '8 an empty error': { sent: { ...response(there), error: { code: 0, message: '' } }, text: 'Hi there' },
}

const wait = { text: 'Wait', finishReason: 'length' } as const
const half = '{"ci'
const others: Cases = {
  '3 half of the arguments': {
    sent: [
      ...[delta('Wait'), added(call(''), 1), argsDelta(half, { output_index: 1 })],
      event('incomplete', { response: cutAt(message('Wait'), call(half, { status: 'incomplete' })) }),
    ],
    ...wait,
  },
  '3 half of the arguments, plain': { sent: cutAt(message('Wait'), call(half)), ...wait },
  '3 invalid arguments and no cut': { ...called(completed([call('{city')])), calls: [['weather', '{city']] },

  '4 an error without an error object': fails(
    [{ type: 'error', code: 'server_error', message: 'Sorry' }],
    'Sorry',
    500,
  ),
  '4 an error object without a code': {
    sent: [{ type: 'error', error: { code: null, message: 'Oops' } }],
    error: { kind: 'unavailable', status: undefined, providerMessage: 'Oops' },
  },
  '4 detail': fails([{ detail: 'Not Found' }], 'Not Found'),
  '4 an error in the completed response': fails(
    [event('completed', { response: { status: 'failed', error: { code: 'server_error', message: 'Sorry' } } })],
    'Sorry',
    500,
  ),
  '4 a failed response without an error': fails(
    [event('failed', { response: { id: 'r', status: 'failed' } })],
    '{"id":"r","status":"failed"}',
  ),
  '4 a canceled response': fails(
    [event('cancelled', { response: { id: 'r', status: 'cancelled' } })],
    '{"id":"r","status":"cancelled"}',
  ),
  '4 a foreign protocol': echoed({ choices: [{ delta: { content: 'Hi' } }] }, done),
  '4 a completed response without a response': echoed(event('completed'), done),
  '4 text and the end mark, no last event': { sent: [delta('Hi'), done], text: 'Hi', error: cut },
  '4 plain detail': fails({ detail: 'Not Found' }, 'Not Found'),
  '4 a plain failure without an error': fails({ status: 'failed', output: [] }, '{"status":"failed","output":[]}'),

  '5 a later null': said(
    ...[event('in_progress', { response: { usage } }), delta('Hi there'), completed([], { usage: null })],
  ),
  '7 an open connection after the last event': { ...said(delta('Hi there'), completed()), end: 'open' },
}

export const responsesCases = [contents, merged, forms, others]
