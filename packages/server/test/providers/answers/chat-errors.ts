/** Failures that services with chat completions report with status 200. */
import { choice, done, says, stop, usage } from './chat-frames.ts'
import type { AnswerCase, Json } from './shape.ts'

const failure = (name: string, frames: AnswerCase['frames'], providerMessage: string, more: Json = {}): AnswerCase => ({
  name,
  frames: frames ?? [],
  error: { providerMessage, ...more },
})

const long = 'x'.repeat(5_000)
export const chatErrorCases: AnswerCase[] = [
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
