/** Failures that services with chat completions report with status 200. */
import { choice, hi, plain, says, stop, usage } from './chat-frames.ts'
import { type Cases, done, echoed, eventOf, fails, type Json } from './shape.ts'

const long = 'x'.repeat(5_000)
const baseResp = (status_code: number, status_msg: string) => ({ base_resp: { status_code, status_msg } })
const line = (frame: Json) => JSON.stringify(frame)
const envelope = { data: { choices: [{ message: { content: 'Hi' } }] } }

export const chatErrorCases: Cases = {
  '4 type error': {
    sent: [{ type: 'error', code: '429', message: 'busy' }, done],
    error: { kind: 'rate_limited', status: 429, providerMessage: 'busy' },
  },
  '4 event error with text': fails(['event: error\ndata: upstream died\n\n', done], 'upstream died'),
  '4 event error with an object': fails(
    ['event: error\ndata: {"reason":"died","status":503}\n\n'],
    '{"reason":"died","status":503}',
    503,
  ),
  '4 event error with a number': fails(['event: error\ndata: 500\n\n'], '500'),
  '4 event error without data': fails(['event: error\ndata:\n\n'], ''),
  '4 detail': fails([{ detail: 'Not Found' }], 'Not Found'),
  '4 a list of details': fails([{ detail: [{ loc: ['body', 'model'], msg: 'unknown' }] }], 'body.model: unknown'),
  '4 code and message': fails([{ code: 'InvalidApiKey', message: 'Wrong key.', request_id: 'r' }], 'Wrong key.'),
  '4 code and message after text': fails([says('Hi'), { code: 500, message: 'Lost.' }], 'Lost.', 500),
  '4 msg': fails([{ code: 1302, msg: 'Too many', success: false }], 'Too many'),
  '4 error_msg': fails([{ error_code: 110, error_msg: 'Token invalid' }], 'Token invalid'),
  '4 a list of errors': fails(
    [{ success: false, errors: [{ code: 7003, message: 'No route' }], result: null }],
    'No route',
  ),
  '4 an error code beside text': echoed({ text: 'NETWORK ERROR', error_code: 50001 }),
  '4 base_resp': fails([{ choices: null, ...baseResp(1004, 'login fail') }, done], 'login fail'),
  '4 base_resp beside empty choices': fails([choice({}, null, baseResp(1027, 'sensitive')), done], 'sensitive'),
  '4 an envelope': echoed({ code: 200, data: { choices: [] } }, done),
  '4 a foreign protocol': echoed({ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }, done),
  '4 bare JSON with an error': fails(['{"error":{"message":"No such model","code":404}}'], 'No such model', 404),
  '4 bare JSON over several lines': fails(['{\n  "detail": "Not Found"\n}\n'], 'Not Found'),
  '4 bare text': fails(['Internal Server Error'], 'Internal Server Error'),
  '4 bare text after an answer began': fails([says('Hi'), 'upstream connect error\n'], 'upstream connect error'),
  '4 a page': fails(['<html><body><h1>Sign in</h1></body></html>'], 'Sign in'),
  '4 the field error': fails(['error: {"code":503,"message":"no capacity"}\n\n', done], 'no capacity', 503),
  '4 the field error with text': fails([says('Hi'), 'error: gone\n\n', done], 'gone'),
  '4 the end mark alone': fails([done], '[DONE]'),
  '4 comments and the end mark': fails([': PROCESSING\n\n', done], '[DONE]'),
  '4 usage and the end mark': fails([usage(5, 0), done], '[DONE]'),
  '4 no choices and the end mark': fails([{ id: 'x', choices: [] }, done], '[DONE]'),
  '4 at most 2,000 characters': fails([{ detail: long }], long.slice(0, 2_000)),
  '4 at most 2,000 characters of bare text': fails([long], long.slice(0, 2_000)),
  '4 an unfinished frame': fails([says('Hi'), 'data: {"choices":[{"delta"\n\n', done], '{"choices":[{"delta"'),
  '4 error text as data': fails([says('Hi'), 'data: Request timed out\n\n', done], 'Request timed out'),
  '4 an empty error beside an answer': hi(
    ...[
      {},
      '',
      [],
      { code: 0, message: '' },
      { code: '0', message: 'success' },
      { code: null, type: '', param: null },
    ].map((error) => choice({ content: '' }, null, { error })),
    says('Hi', 'stop'),
  ),
  '4 an empty error beside a plain answer': {
    sent: plain({ content: 'Hi' }, 'stop', { error: { code: 0, message: '' } }),
    text: 'Hi',
  },
  '4 an error with code 0': fails([choice({}, 'stop', { error: { code: 0, message: 'No quota' } }), done], 'No quota'),
  '4 an error in the choice': fails(
    [
      says('Hi'),
      { choices: [{ delta: { content: '' }, finish_reason: 'error', error: { code: 502, message: 'Gone' } }] },
    ],
    'Gone',
    502,
  ),
  '4 an error in a plain choice': fails(
    { choices: [{ message: { content: '' }, finish_reason: 'stop', error: 'Gone' }] },
    'Gone',
  ),
  '4 base_resp with 0 as text': hi(choice({ content: 'Hi' }, 'stop', { base_resp: { status_code: '0' } })),
  '4 an error without words': fails(plain({ content: 'Hi' }, 'stop', { error: true }), 'true'),
  '4 an error message beside an empty answer': fails(
    plain({ content: '' }, 'stop', { success: false, message: 'No quota' }),
    'No quota',
  ),
  '4 a message of success beside an empty answer': {
    sent: plain({ content: '' }, 'stop', { code: 200, message: 'Done' }),
    text: '',
  },
  '4 an error object beside counts': fails(
    [says('Hi'), { object: 'error', message: 'Lost', usage: { prompt_tokens: 1 } }, done],
    'Lost',
  ),
  '4 an error beside an empty list of choices': fails(
    [says('Hi'), { choices: [], code: 500, message: 'Lost' }, done],
    'Lost',
  ),
  '4 code 0 beside choices': hi(
    ...['H', 'i'].map((content) => choice({ content }, null, { code: 0, message: 'Success' })),
    { choices: [], code: 0, message: 'Success', usage: { prompt_tokens: 1 } },
    stop(),
  ),
  '4 a list of frames in one event': fails(
    [`data: ${JSON.stringify([says('H'), says('i', 'stop')])}\n\n`, done],
    JSON.stringify([says('H'), says('i', 'stop')]),
  ),
  '4 choices by number': echoed(
    { choices: { 0: { delta: { content: 'Hi' } } }, usage: { prompt_tokens: 1 } },
    stop(),
    done,
  ),
  '4 a line of JSON before the events': hi('{"warning":"slow"}\n\n', says('Hi'), stop()),
  '4 base_resp without a failure': hi(choice({ content: 'Hi' }, 'stop', baseResp(0, ''))),
  '4 a bare answer': { sent: ['{"choices":[{"message":{"content":"Hi"},', '"finish_reason":"stop"}]}'], text: 'Hi' },
  '4 bare frames, one a line': { sent: [`${line(says('H'))}\n`, `${line(says('i'))}\n`, line(stop())], text: 'Hi' },
  '4 plain detail': fails({ detail: 'Not Found' }, 'Not Found'),
  '4 plain code and message': fails({ code: 400, message: 'Bad model' }, 'Bad model', 400),
  '4 plain base_resp': fails({ choices: null, ...baseResp(1008, 'insufficient balance') }, 'insufficient balance'),
  '4 a plain envelope': fails(envelope, line(envelope)),
  '4 a plain text': fails('Service Unavailable', 'Service Unavailable'),
  '4 an empty plain body': { sent: '', error: { kind: 'malformed' } },
  '4 a plain answer without content': fails({ choices: [{ index: 0 }] }, '{"choices":[{"index":0}]}'),
  '4 a stream in place of a plain answer': { sent: `${eventOf(says('Hi'))}${eventOf(stop())}${done}`, text: 'Hi' },
}
