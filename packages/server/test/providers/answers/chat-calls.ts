/** When an answer of chat completions ends, and which fragments belong to a call. */
import { expect } from 'vitest'
import { called, calls, choice, cut, done, part, rome, says, stop, usage } from './chat-frames.ts'
import type { AnswerCase, Json } from './shape.ts'

const head = part(0, 'a', 'weather', '')
const bern: [string, Json] = ['weather', { city: 'Bern' }]
const stopped: [string, Json] = ['stop', { now: true }]
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
  {
    name: '2 the same tool twice with index 0 and two ids',
    frames: [
      calls(part(0, 'a', 'weather', '{"city":"Rome"}')),
      calls(part(0, 'b', 'weather', '{"city":"Bern"}')),
      called,
    ],
    calls: [rome, bern],
    finishReason: 'tool-calls',
  },
  romeIn(
    '2 the arguments before the name, no index',
    calls(args('{"city":', undefined, 'a')),
    calls(args('"Rome"}', undefined, 'a')),
    calls(part(undefined, 'a', 'weather')),
  ),
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

export const chatCallCases: AnswerCase[] = [...finishReasons, ...fragments, ...lengths]
