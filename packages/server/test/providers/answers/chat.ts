/** Answers of services with chat completions, as they were found in reports about vLLM, LiteLLM, OpenRouter and others. */
import { expect } from 'vitest'
import type { AnswerCase, Json } from './shape.ts'

const done = 'data: [DONE]\n\n'

function choice(delta: Json, finish_reason: string | null = null, more: Json = {}): Json {
  return { choices: [{ index: 0, delta, finish_reason }], ...more }
}

const says = (content: string, finish: string | null = null) => choice({ content }, finish)

/** A fragment of a call. Keys that are undefined are not sent. */
const part = (index?: number, id?: string, name?: string, args?: unknown): Json => ({
  index,
  id,
  ...(id !== undefined && { type: 'function' }),
  function: { name, arguments: args },
})
const calls = (...tool_calls: Json[]) => choice({ tool_calls })
const stop = (finish = 'stop') => choice({}, finish)
const called = stop('tool_calls')
const usage = (prompt_tokens: unknown, completion_tokens: unknown): Json => ({
  choices: [],
  usage: { prompt_tokens, completion_tokens },
})

const head = part(0, 'a', 'weather', '')
const rome: [string, Json] = ['weather', { city: 'Rome' }]
const bern: [string, Json] = ['weather', { city: 'Bern' }]
const stopped: [string, Json] = ['stop', { now: true }]
const cut = { kind: 'malformed', message: "The provider's response was cut off" } as const
const nowhere = { kind: 'malformed', providerMessage: expect.stringContaining('"arguments"') } as const

/** One call of `weather`, in frames that differ from OpenAI's. */
const romeIn = (name: string, ...frames: Json[]): AnswerCase => ({
  name,
  frames: [...frames, called, done],
  calls: [rome],
  finishReason: 'tool-calls',
})
const bothIn = (name: string, ...frames: Json[]): AnswerCase => ({
  name,
  frames: [...frames, called, done],
  calls: [rome, stopped],
  finishReason: 'tool-calls',
})
const failure = (name: string, frames: AnswerCase['frames'], providerMessage: string, more: Json = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  error: { providerMessage, ...more },
})

const finishReasons: AnswerCase[] = [
  romeIn(
    '1 an empty finish reason before the arguments',
    choice({ tool_calls: [head] }, ''),
    calls(part(0, undefined, undefined, '{"city":"Rome"}')),
  ),
  romeIn(
    '1 the finish reason "null" in every frame',
    choice({ tool_calls: [head] }, 'null'),
    choice({ tool_calls: [part(0, undefined, undefined, '{"city":"Rome"}')] }, 'null'),
  ),
  romeIn(
    '1 the finish reason before the arguments',
    choice({ tool_calls: [head] }, 'tool_calls'),
    choice({ tool_calls: [part(0, undefined, undefined, '{"city":')] }, 'tool_calls'),
    calls(part(0, undefined, undefined, '"Rome"}')),
  ),
  {
    name: '1 the finish reason in every frame',
    frames: [says('a', 'stop'), says('b', 'stop'), says('c', 'stop'), done],
    text: 'abc',
  },
  {
    name: '1 the finish reason in every frame, broken off',
    frames: [says('a', 'stop'), says('b', 'stop')],
    text: 'ab',
    error: cut,
  },
  { name: '1 an empty finish reason, broken off', frames: [choice({ tool_calls: [head] }, '')], error: cut },
  { name: '1 the finish reason "null", broken off', frames: [says('a', 'null')], text: 'a', error: cut },
  {
    name: '1 a finish reason, then more, reset',
    frames: [says('a', 'stop'), says('b')],
    end: 'reset',
    text: 'ab',
    error: { kind: 'unavailable' },
  },
  {
    name: '1 a finish reason, then the rest of the call, open',
    frames: [
      choice({ tool_calls: [head] }, 'tool_calls'),
      calls(part(0, undefined, undefined, '{"city":')),
      usage(1, 1),
    ],
    end: 'reset',
    error: { kind: 'unavailable' },
  },
  {
    name: '1 no finish reason, half a call and the end mark',
    frames: [calls(part(0, 'a', 'weather', '{"ci')), done],
    error: cut,
  },
  {
    name: '1 a finish reason in a frame of its own without a delta',
    frames: [says('a'), { choices: [{ finish_reason: 'length' }] }],
    text: 'a',
    finishReason: 'length',
  },
]

const args = (text: string, index?: number, id?: string) => part(index, id, undefined, text)
const fragments: AnswerCase[] = [
  bothIn(
    '2 the head of the second call with index 0, its arguments with index 1',
    calls(part(0, 'a', 'weather', '')),
    calls(args('{"city":"Rome"}', 0)),
    calls(part(0, 'b', 'stop', '')),
    calls(args('{"now":', 1)),
    calls(args('true}', 1)),
  ),
  romeIn(
    '2 another id for the arguments',
    calls(head),
    calls(args('{"city":', 0, 'x')),
    calls(args('"Rome"}', 0, 'x')),
  ),
  romeIn(
    '2 a new id with each fragment',
    calls(part(0, 'a', 'weather', '{"city"')),
    calls(args(':"Ro', 0, 'b')),
    calls(args('me"}', 0, 'c')),
  ),
  romeIn(
    '2 a new id and the name with each fragment',
    calls(part(0, 'a', 'weather', '{"city"')),
    calls(part(0, 'b', 'weather', ':"Ro')),
    calls(part(0, 'c', 'weather', 'me"}')),
  ),
  romeIn(
    '2 a new id with each fragment, no index',
    calls(part(undefined, 'a', 'weather', '')),
    calls(args('{"city":', undefined, 'b')),
    calls(args('"Rome"}', undefined, 'c')),
  ),
  romeIn(
    '2 id and name with each fragment',
    calls(part(0, 'a', 'weather', '{"city"')),
    calls(part(0, 'a', 'weather', ':"Rome"}')),
  ),
  romeIn(
    '2 id and name with each fragment, no index',
    calls(part(undefined, 'a', 'weather', '{"city"')),
    calls(part(undefined, 'a', 'weather', ':"Rome"}')),
  ),
  romeIn(
    '2 no index and no id',
    calls(part(undefined, undefined, 'weather', '')),
    calls(args('{"city":')),
    calls(args('"Rome"}')),
  ),
  bothIn(
    '2 no index, two calls in one delta',
    calls(part(undefined, 'a', 'weather', '{"city":"Rome"}'), part(undefined, 'b', 'stop', '{"now":true}')),
  ),
  bothIn(
    '2 no index, two calls in one delta, their arguments in the next',
    calls(part(undefined, 'a', 'weather', ''), part(undefined, 'b', 'stop', '')),
    calls(args('{"city":'), args('{"now":')),
    calls(args('"Rome"}'), args('true}')),
  ),
  bothIn(
    '2 index 0 for both calls of one delta, their arguments in the next',
    calls(part(0, 'a', 'weather', ''), part(0, 'b', 'stop', '')),
    calls(args('{"city":"Rome"}', 0), args('{"now":true}', 0)),
  ),
  bothIn(
    '2 all calls with index 0',
    calls(part(0, 'a', 'weather', '')),
    calls(args('{"city":"Rome"}', 0)),
    calls(part(0, 'b', 'stop', '')),
    calls(args('{"now":true}', 0)),
  ),
  bothIn(
    '2 all calls with index 0 and no id',
    calls(part(0, undefined, 'weather', '{"city":"Rome"}')),
    calls(part(0, undefined, 'stop', '{"now":')),
    calls(args('true}', 0)),
  ),
  bothIn(
    '2 the known id under another index',
    calls(part(0, 'a', 'weather', '')),
    calls(part(1, 'b', 'stop', '')),
    calls(args('{"now":true}', 0, 'b')),
    calls(args('{"city":"Rome"}', 1, 'a')),
  ),
  bothIn(
    '2 indexes from 1, interleaved',
    calls(part(1, 'a', 'weather', '')),
    calls(part(2, 'b', 'stop', '')),
    calls(args('{"city":', 1)),
    calls(args('{"now":', 2)),
    calls(args('"Rome"}', 1)),
    calls(args('true}', 2)),
  ),
  romeIn(
    '2 an index as text',
    calls({ ...part(undefined, 'a', 'weather', ''), index: '0' }),
    calls({ ...args('{"city":"Rome"}'), index: '0' }),
  ),
  romeIn(
    '2 an empty fragment after the call',
    calls(part(0, 'a', 'weather', '{"city":"Rome"}')),
    calls(part(0, '', '', '')),
  ),
  romeIn(
    '2 the name after the id',
    calls(part(0, 'a', undefined, '')),
    calls(part(0, undefined, 'weather', '{"city":"Rome"}')),
  ),
  romeIn('2 arguments as an object', calls(part(0, 'a', 'weather', { city: 'Rome' }))),
  romeIn(
    '2 arguments after an empty object in their place',
    calls(part(0, 'a', 'weather', '{}')),
    calls(args('{"city":"Rome"}', 0)),
  ),
  romeIn(
    '2 arguments repeated as a whole',
    calls(part(0, 'a', 'weather', '')),
    calls(args('{"city":"Rome"}', 0)),
    calls(args('{"city":"Rome"}', 0)),
  ),
  romeIn(
    '2 empty calls beside text',
    choice({ content: '', tool_calls: [] }),
    calls(part(0, 'a', 'weather', '{"city":"Rome"}')),
  ),
  {
    name: '2 the same tool twice with index 0 and no id',
    frames: [
      calls(part(0, undefined, 'weather', '{"city":"Rome"}')),
      calls(part(0, undefined, 'weather', '{"city":"Bern"}')),
      called,
      done,
    ],
    calls: [rome, bern],
    finishReason: 'tool-calls',
  },
  { name: '2 arguments without any call', frames: [calls(args('{"city":"Rome"}', 0)), called, done], error: nowhere },
  {
    name: '2 arguments after a complete call under another index',
    frames: [calls(part(0, 'a', 'weather', '{"city":"Rome"}')), calls(args('{"now":true}', 1)), called, done],
    error: nowhere,
  },
  {
    name: '2 one fragment for one of two calls',
    frames: [
      calls(part(undefined, 'a', 'weather', ''), part(undefined, 'b', 'stop', '')),
      calls(args('{"now":true}')),
      called,
      done,
    ],
    error: nowhere,
  },
  {
    name: '2 a plain call without a name',
    body: {
      choices: [
        { message: { tool_calls: [{ id: 'a', function: { arguments: '{"x":1}' } }] }, finish_reason: 'tool_calls' },
      ],
    },
    error: nowhere,
  },
]

const lengths: AnswerCase[] = [
  {
    name: '3 half of the arguments',
    frames: [says('Wait'), calls(part(0, 'a', 'weather', '{"ci')), stop('length'), done],
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 none of the arguments',
    frames: [says('Wait'), calls(head), stop('length'), done],
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 half of the second call',
    frames: [
      calls(part(0, 'a', 'weather', '{"city":"Rome"}')),
      calls(part(1, 'b', 'stop', '{"n')),
      stop('length'),
      done,
    ],
    finishReason: 'length',
  },
  {
    name: '3 half of the arguments, plain',
    body: {
      choices: [
        { message: { content: 'Wait', tool_calls: [part(0, 'a', 'weather', '{"ci')] }, finish_reason: 'length' },
      ],
    },
    text: 'Wait',
    finishReason: 'length',
  },
  {
    name: '3 half of the arguments, filtered',
    frames: [calls(part(0, 'a', 'weather', '{"ci')), stop('content_filter'), done],
    finishReason: 'content-filter',
  },
  {
    name: '3 a complete call',
    frames: [calls(part(0, 'a', 'weather', '{"city":"Rome"}')), stop('length'), done],
    calls: [rome],
    finishReason: 'length',
  },
  {
    name: '3 invalid arguments and no cut',
    frames: [calls(part(0, 'a', 'weather', '{city')), called, done],
    calls: [['weather', '{city']],
    finishReason: 'tool-calls',
  },
]

const long = 'x'.repeat(5_000)
const errors: AnswerCase[] = [
  failure('4 type error', [{ type: 'error', code: '429', message: 'busy' }, done], 'busy', {
    kind: 'rate_limited',
    status: 429,
  }),
  failure('4 event error with text', ['event: error\ndata: upstream died\n\n', done], 'upstream died'),
  failure(
    '4 event error with an object',
    ['event: error\ndata: {"reason":"died","status":503}\n\n'],
    '{"reason":"died","status":503}',
    { status: 503 },
  ),
  failure('4 event error with a number', ['event: error\ndata: 500\n\n'], '500'),
  failure('4 event error without data', ['event: error\ndata:\n\n'], ''),
  failure('4 detail', [{ detail: 'Not Found' }], 'Not Found'),
  failure('4 a list of details', [{ detail: [{ loc: ['body', 'model'], msg: 'unknown' }] }], 'body.model: unknown'),
  failure('4 code and message', [{ code: 'InvalidApiKey', message: 'Wrong key.', request_id: 'r' }], 'Wrong key.'),
  failure('4 code and message after text', [says('Hi'), { code: 500, message: 'Lost.' }], 'Lost.', { status: 500 }),
  failure('4 msg', [{ code: 1302, msg: 'Too many', success: false }], 'Too many'),
  failure('4 error_msg', [{ error_code: 110, error_msg: 'Token invalid' }], 'Token invalid'),
  failure(
    '4 a list of errors',
    [{ success: false, errors: [{ code: 7003, message: 'No route' }], result: null }],
    'No route',
  ),
  failure(
    '4 an error code beside text',
    [{ text: 'NETWORK ERROR', error_code: 50001 }],
    '{"text":"NETWORK ERROR","error_code":50001}',
  ),
  failure(
    '4 base_resp',
    [{ choices: null, base_resp: { status_code: 1004, status_msg: 'login fail' } }, done],
    'login fail',
  ),
  failure(
    '4 base_resp beside empty choices',
    [choice({}, null, { base_resp: { status_code: 1027, status_msg: 'sensitive' } }), done],
    'sensitive',
  ),
  failure('4 an envelope', [{ code: 200, data: { choices: [] } }, done], '{"code":200,"data":{"choices":[]}}'),
  failure(
    '4 a foreign protocol',
    [{ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, done],
    '{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}',
  ),
  failure('4 bare JSON with an error', ['{"error":{"message":"No such model","code":404}}'], 'No such model', {
    status: 404,
  }),
  failure('4 bare JSON over several lines', ['{\n  "detail": "Not Found"\n}\n'], 'Not Found'),
  failure('4 bare text', ['Internal Server Error'], 'Internal Server Error'),
  failure('4 bare text after an answer began', [says('Hi'), 'upstream connect error\n'], 'upstream connect error'),
  failure('4 a page', ['<html><body><h1>Sign in</h1></body></html>'], 'Sign in'),
  failure('4 the field error', ['error: {"code":503,"message":"no capacity"}\n\n', done], 'no capacity', {
    status: 503,
  }),
  failure('4 the field error with text', [says('Hi'), 'error: gone\n\n', done], 'gone'),
  failure('4 the end mark alone', [done], '[DONE]'),
  failure('4 comments and the end mark', [': PROCESSING\n\n', done], '[DONE]'),
  failure('4 usage and the end mark', [usage(5, 0), done], '[DONE]'),
  failure('4 no choices and the end mark', [{ id: 'x', choices: [] }, done], '[DONE]'),
  failure('4 at most 2,000 characters', [{ detail: long }], long.slice(0, 2_000)),
  failure('4 at most 2,000 characters of bare text', [long], long.slice(0, 2_000)),
  failure('4 an unfinished frame', [says('Hi'), 'data: {"choices":[{"delta"\n\n', done], '{"choices":[{"delta"'),
  failure('4 error text as data', [says('Hi'), 'data: Request timed out\n\n', done], 'Request timed out'),
  {
    name: '4 an empty error beside an answer',
    frames: [choice({ content: 'Hi' }, 'stop', { error: {} }), choice({}, null, { error: '' }), done],
    text: 'Hi',
  },
  {
    name: '4 base_resp without a failure',
    frames: [choice({ content: 'Hi' }, 'stop', { base_resp: { status_code: 0, status_msg: '' } }), done],
    text: 'Hi',
  },
  {
    name: '4 a bare answer',
    frames: ['{"choices":[{"message":{"content":"Hi"},', '"finish_reason":"stop"}]}'],
    text: 'Hi',
  },
  {
    name: '4 bare frames, one a line',
    frames: [`${JSON.stringify(says('H'))}\n`, `${JSON.stringify(says('i'))}\n`, JSON.stringify(stop())],
    text: 'Hi',
  },
  { name: '4 plain detail', body: { detail: 'Not Found' }, error: { providerMessage: 'Not Found' } },
  {
    name: '4 plain code and message',
    body: { code: 400, message: 'Bad model' },
    error: { status: 400, providerMessage: 'Bad model' },
  },
  {
    name: '4 plain base_resp',
    body: { id: '', choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
    error: { providerMessage: 'insufficient balance' },
  },
  {
    name: '4 a plain envelope',
    body: { data: { choices: [{ message: { content: 'Hi' } }] } },
    error: { providerMessage: '{"data":{"choices":[{"message":{"content":"Hi"}}]}}' },
  },
  { name: '4 a plain text', body: 'Service Unavailable', error: { providerMessage: 'Service Unavailable' } },
  { name: '4 an empty plain body', body: '', error: { kind: 'malformed' } },
  {
    name: '4 a plain answer without content',
    body: { choices: [{ index: 0 }] },
    error: { providerMessage: '{"choices":[{"index":0}]}' },
  },
  {
    name: '4 a stream in place of a plain answer',
    body: `data: ${JSON.stringify(says('Hi'))}\n\ndata: ${JSON.stringify(stop())}\n\n${done}`,
    text: 'Hi',
  },
]

const counts = {
  prompt_tokens: 12,
  completion_tokens: 8,
  total_tokens: 20,
  prompt_tokens_details: { cached_tokens: 5 },
}
const counted = { inputTokens: 12, outputTokens: 8, cachedInputTokens: 5 }
const countedIn = (name: string, ...more: Json[]): AnswerCase => ({
  name,
  frames: [choice({ content: 'Hi' }, 'stop', { usage: counts }), ...more, done],
  text: 'Hi',
  usage: counted,
})
const usages: AnswerCase[] = [
  countedIn('5 a later null', choice({}, null, { usage: null })),
  countedIn('5 later empty counts', { choices: [], usage: {} }),
  countedIn('5 later counts of null', {
    choices: [],
    usage: { prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null },
  }),
  countedIn('5 later details without counts', { choices: [], usage: { prompt_tokens_details: {} } }),
  countedIn('5 later zeros', usage(0, 0)),
  countedIn('5 a later part of the counts', { choices: [], usage: { completion_tokens: 8 } }),
  {
    name: '5 numbers as text',
    frames: [says('Hi', 'stop'), usage('12', '8'), done],
    text: 'Hi',
    usage: { inputTokens: 12, outputTokens: 8 },
  },
  {
    name: '5 counts that grow',
    frames: [
      choice({ content: 'H' }, null, { usage: { prompt_tokens: 12, completion_tokens: 1 } }),
      choice({ content: 'i' }, 'stop', { usage: { completion_tokens: 2 } }),
      done,
    ],
    text: 'Hi',
    usage: { inputTokens: 12, outputTokens: 2 },
  },
  {
    name: '5 counts in the choice',
    frames: [{ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop', usage: counts }] }, done],
    text: 'Hi',
    usage: counted,
  },
  {
    name: '5 the names of Responses',
    frames: [says('Hi', 'stop'), { choices: [], usage: { input_tokens: 12, output_tokens: 8 } }, done],
    text: 'Hi',
    usage: { inputTokens: 12, outputTokens: 8 },
  },
]

const indexed = (index: number | undefined, delta: Json, finish_reason: string | null = null) => ({
  index,
  delta,
  finish_reason,
})
const choices: AnswerCase[] = [
  {
    name: '6 only a choice with index 1',
    frames: [{ choices: [indexed(1, { content: 'Hi' }, 'stop')] }, done],
    text: 'Hi',
  },
  {
    name: '6 an index that rises with each frame',
    frames: [
      { choices: [indexed(0, { content: 'H' })] },
      { choices: [indexed(1, { content: 'i' })] },
      { choices: [indexed(2, {}, 'stop')] },
      done,
    ],
    text: 'Hi',
  },
  {
    name: '6 two choices with index 0',
    frames: [{ choices: [indexed(0, { content: 'H' }), indexed(0, { content: 'i' }, 'stop')] }, done],
    text: 'Hi',
  },
  {
    name: '6 two choices without an index',
    frames: [{ choices: [indexed(undefined, { content: 'H' }), indexed(undefined, { content: 'i' }, 'stop')] }, done],
    text: 'Hi',
  },
  {
    name: '6 text and call in two choices',
    body: {
      choices: [
        { index: 0, message: { content: 'Look' }, finish_reason: 'tool_calls' },
        {
          index: 0,
          message: { tool_calls: [part(undefined, 'a', 'weather', '{"city":"Rome"}')] },
          finish_reason: 'tool_calls',
        },
      ],
    },
    text: 'Look',
    calls: [rome],
    finishReason: 'tool-calls',
  },
  {
    name: '6 text and call in choices of two indexes',
    frames: [
      { choices: [indexed(0, { content: 'Look' })] },
      { choices: [indexed(1, { tool_calls: [part(0, 'a', 'weather', '{"city":"Rome"}')] })] },
      { choices: [indexed(0, {}, 'stop'), indexed(1, {}, 'tool_calls')] },
      done,
    ],
    text: 'Look',
    calls: [rome],
    finishReason: 'tool-calls',
  },
  {
    name: '6 two answers, where two were asked for',
    settings: { n: 2 },
    frames: [
      { choices: [indexed(0, { content: 'A' })] },
      { choices: [indexed(1, { content: 'B' })] },
      { choices: [indexed(1, {}, 'stop'), indexed(0, {}, 'stop')] },
      done,
    ],
    text: 'A',
  },
  {
    name: '6 two answers in one frame',
    body: {
      choices: [
        { index: 1, message: { content: 'B' }, finish_reason: 'stop' },
        { index: 0, message: { content: 'A' }, finish_reason: 'stop' },
      ],
    },
    text: 'A',
  },
  {
    name: '6 a message in place of a delta',
    frames: [{ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }, done],
    text: 'Hi',
  },
  {
    name: '6 messages that grow',
    frames: ['H', 'Hi', 'Hi!']
      .map((content) => ({ choices: [{ message: { content } }] }))
      .concat([{ choices: [{ message: { content: 'Hi!' }, ...{ finish_reason: 'stop' } }] }]),
    text: 'Hi!',
  },
  {
    name: '6 messages with the next words',
    frames: ['One', ' two', ' three']
      .map((content) => ({ choices: [{ message: { content } }] }))
      .concat([{ choices: [{ message: { content: '' }, ...{ finish_reason: 'stop' } }] }]),
    text: 'One two three',
  },
  {
    name: '6 deltas and the whole message at the end',
    frames: [
      says('H'),
      says('i'),
      { object: 'chat.completion', choices: [{ message: { content: 'Hi there' }, finish_reason: 'stop' }] },
      done,
    ],
    text: 'Hi there',
  },
  {
    name: '6 empty deltas beside messages',
    frames: [{ choices: [{ delta: { content: '' }, message: { content: 'Hi' }, finish_reason: 'stop' }] }, done],
    text: 'Hi',
  },
  {
    name: '6 deltas beside messages',
    frames: [
      { choices: [{ delta: { content: 'H' }, message: { content: 'H' } }] },
      { choices: [{ delta: { content: 'i' }, message: { content: 'Hi' }, finish_reason: 'stop' }] },
      done,
    ],
    text: 'Hi',
  },
  {
    name: '6 a call in the message at the end',
    frames: [
      says('Look'),
      {
        choices: [
          {
            message: { content: 'Look', tool_calls: [part(undefined, 'a', 'weather', '{"city":"Rome"}')] },
            finish_reason: 'tool_calls',
          },
        ],
      },
      done,
    ],
    text: 'Look',
    calls: [rome],
    finishReason: 'tool-calls',
  },
  {
    name: '6 texts',
    frames: [
      { choices: [{ index: 0, text: 'H', finish_reason: null }] },
      { choices: [{ index: 0, text: 'i', finish_reason: 'stop' }] },
      done,
    ],
    text: 'Hi',
  },
  {
    name: '6 a plain text',
    body: { object: 'text_completion', choices: [{ text: 'Hi', finish_reason: 'stop' }] },
    text: 'Hi',
  },
  { name: '6 a plain delta', body: { choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }, text: 'Hi' },
  {
    name: '6 a legacy function call',
    frames: [
      choice({ function_call: { name: 'weather', arguments: '' } }),
      choice({ function_call: { arguments: '{"city":' } }),
      choice({ function_call: { arguments: '"Rome"}' } }),
      stop('function_call'),
      done,
    ],
    calls: [rome],
    finishReason: 'tool-calls',
  },
  {
    name: '6 a plain legacy function call',
    body: {
      choices: [
        {
          message: { content: null, function_call: { name: 'weather', arguments: '{"city":"Rome"}' } },
          finish_reason: 'function_call',
        },
      ],
    },
    calls: [rome],
    finishReason: 'tool-calls',
  },
  {
    name: '6 content as parts of other names',
    frames: [choice({ content: [{ type: 'output_text', text: 'H' }, { text: 'i' }] }, 'stop'), done],
    text: 'Hi',
  },
  {
    name: '6 content as one part',
    frames: [choice({ content: { type: 'text', text: 'Hi' } }, 'stop'), done],
    text: 'Hi',
  },
  {
    name: '6 choices of an unknown form',
    frames: [{ choices: [{ index: 0, output: 'Hi', finish_reason: 'stop' }] }, done],
    error: { providerMessage: '{"choices":[{"index":0,"output":"Hi","finish_reason":"stop"}]}' },
  },
  { name: '6 an empty answer', frames: [choice({ role: 'assistant', content: '' }), stop(), done], text: '' },
]

const ends: AnswerCase[] = [
  { name: '7 an open connection after the finish reason', frames: [says('Hi'), stop()], end: 'open', text: 'Hi' },
  {
    name: '7 an open connection after usage',
    frames: [says('Hi'), stop(), usage(12, 8)],
    end: 'open',
    text: 'Hi',
    usage: { inputTokens: 12, outputTokens: 8 },
  },
  { name: '7 a reset after the finish reason', frames: [says('Hi'), stop()], end: 'reset', text: 'Hi' },
  {
    name: '7 a reset after the finish reason of a call',
    frames: [calls(part(0, 'a', 'weather', '{"city":"Rome"}')), called],
    end: 'reset',
    calls: [rome],
    finishReason: 'tool-calls',
  },
  { name: '7 an open connection after the end mark', frames: [says('Hi', 'stop'), done], end: 'open', text: 'Hi' },
  { name: '7 half a frame after the finish reason', frames: [says('Hi', 'stop'), 'data: {"choi'], text: 'Hi' },
  {
    name: '7 an end mark with blanks',
    isSplit: true,
    frames: [says('Hi', 'stop'), 'data:  [DONE] \n\n'],
    end: 'open',
    text: 'Hi',
  },
  { name: '7 empty data', isSplit: true, frames: ['data:\n\n', says('Hi'), 'data: \n\n', stop(), done], text: 'Hi' },
  { name: '7 text pings', frames: [says('Hi'), 'data: ping\n\n', 'data: keep-alive\n\n', stop(), done], text: 'Hi' },
  {
    name: '7 a ping event',
    frames: ['event: ping\ndata: 2026-11-27 13:00:00\n\n', says('Hi'), stop(), done],
    text: 'Hi',
  },
  { name: '7 JSON pings', frames: [{ type: 'ping' }, says('Hi'), {}, stop(), done], text: 'Hi' },
  {
    name: '7 a text ping and no finish reason',
    frames: [says('Hi'), 'data: ping\n\n', done],
    text: 'Hi',
    finishReason: 'unknown',
  },
  {
    name: '7 invalid UTF-8',
    isSplit: true,
    frames: ['data: {"choices":[{"delta":{"content":"a', Uint8Array.of(0xc3, 0x28, 0xff), 'b"}}]}\n\n', stop(), done],
    text: 'a\ufffd(\ufffdb',
  },
  {
    name: '7 a character that is cut in two by frames',
    isSplit: true,
    frames: ['data: {"choices":[{"delta":{"content":"a', Uint8Array.of(0xe2, 0x82), '"}}]}\n\n', stop(), done],
    text: 'a\ufffd',
  },
  {
    name: '7 a refusal',
    frames: [choice({ refusal: 'I cannot ' }), choice({ refusal: 'do that.' }), stop(), done],
    text: 'I cannot do that.',
    finishReason: 'content-filter',
  },
]

export const chatCases: AnswerCase[] = [
  ...finishReasons,
  ...fragments,
  ...lengths,
  ...errors,
  ...usages,
  ...choices,
  ...ends,
]
