/** When an answer of chat completions ends, and which fragments belong to a call. */
import { expect } from 'vitest'
import { called, calls, choice, part, plain, says, stop, usage } from './chat-frames.ts'
import { type AnswerCase, type Cases, cut, done, echoed, full, type Json, rome } from './shape.ts'

/** A call of `weather`, from texts of `calls` and other frames. */
const made = (...frames: (string | Json | Json[])[]): AnswerCase => ({
  sent: [...frames.flatMap<Json>((each) => (typeof each === 'string' ? calls(each) : (each as Json))), called, done],
  calls: [rome],
  finishReason: 'tool-calls',
})
const both = (...frames: (string | Json)[]): AnswerCase => ({
  ...made(...frames),
  calls: [rome, ['stop', { now: true }]],
})
const twice = (text: string): AnswerCase => ({ ...made(text), calls: [rome, ['weather', { city: 'Bern' }]] })
const invalid = (text: string): AnswerCase => ({ ...made(`0 a weather ${text}`), calls: [['weather', text]] })
const nowhere = (...frames: string[]): AnswerCase => ({
  sent: made(...frames).sent,
  error: { kind: 'malformed', providerMessage: expect.stringContaining('"arguments"') },
})
const lost = (sent: AnswerCase['sent'], content: string): AnswerCase => ({
  sent,
  hasTools: true,
  text: content,
  error: {
    kind: 'malformed',
    message: 'The provider announced a tool call, but sent none',
    providerMessage: JSON.stringify({ finish_reason: 'tool_calls', content }),
  },
})
const wait = { text: 'Wait', finishReason: 'length' } as const
const empty = { index: 0, id: '', type: 'function', function: { name: '', arguments: '' } }

export const chatCallCases: Cases = {
  '1 an empty finish reason before the arguments': made(calls('0 a weather', ''), `0 - - ${full}`),
  '1 the finish reason "null" in every frame': made(calls(`0 a weather; 0 - - ${full}`, 'null')),
  '1 the finish reason before the arguments': made(calls('0 a weather; 0 - - {"city":', 'tool_calls'), '0 - - "Rome"}'),
  '1 the finish reason in every frame': {
    sent: [...['a', 'b', 'c'].map((each) => says(each, 'stop')), done],
    text: 'abc',
  },
  '1 the finish reason in every frame, broken off': {
    sent: [says('a', 'stop'), says('b', 'stop')],
    text: 'ab',
    error: cut,
  },
  '1 an empty finish reason, broken off': { sent: calls('0 a weather', ''), error: cut },
  '1 the finish reason "null", broken off': { sent: [says('a', 'null')], text: 'a', error: cut },
  '1 a finish reason, then more, reset': {
    sent: [says('a', 'stop'), says('b')],
    end: 'reset',
    text: 'ab',
    error: { kind: 'unavailable' },
  },
  '1 a finish reason, then the rest of the call, open': {
    sent: [...calls('0 a weather', 'tool_calls'), ...calls('0 - - {"city":'), usage(1, 1)],
    end: 'reset',
    error: { kind: 'unavailable' },
  },
  '1 no finish reason, half a call and the end mark': { sent: [...calls('0 a weather {"ci'), done], error: cut },
  '1 no finish reason, the head of a call and the end mark': { sent: [...calls('0 a weather'), done], error: cut },
  '1 no finish reason, a complete call and the end mark': {
    sent: [...calls(`0 a weather ${full}; 1 b stop {}`), done],
    calls: [rome, ['stop', {}]],
    finishReason: 'tool-calls',
  },
  '1 no finish reason, an unknown choice and the end mark': {
    sent: [says('Hi'), { choices: [{ index: 0, output: ' there' }] }, done],
    text: 'Hi',
    error: { ...cut, providerMessage: '{"choices":[{"index":0,"output":" there"}]}' },
  },
  '1 no finish reason, an unknown frame and the end mark': {
    sent: [says('Hi'), { type: 'tomorrow', text: ' there' }, done],
    text: 'Hi',
    error: { ...cut, providerMessage: '{"type":"tomorrow","text":" there"}' },
  },
  '1 a finish reason of calls without a call': lost([says('I look.'), called, done], 'I look.'),
  '1 a finish reason of calls without a call, plain': lost(
    plain({ content: 'I look.', tool_calls: [] }, 'tool_calls'),
    'I look.',
  ),
  '1 a finish reason of calls without anything': lost([choice({ role: 'assistant' }), called, done], ''),
  '1 a finish reason of calls without anything, no tools offered': { ...lost([called, done], ''), hasTools: false },
  '1 a finish reason of calls after text, no tools offered': { sent: [says('Hi'), called, done], text: 'Hi' },
  '1 a finish reason in a frame of its own without a delta': {
    sent: [says('a'), { choices: [{ finish_reason: 'length' }] }],
    text: 'a',
    finishReason: 'length',
  },

  '2 the head of a complete call again': made(`0 a weather ${full}; 0 a weather`),
  '2 the head of a complete call again, without an id': made(`0 - weather ${full}; 0 - weather`),
  '2 a complete call again at the end': made('0 a weather', `0 - - ${full}`, `0 a weather ${full}`),
  '2 an empty object before the arguments, with name and id': made(`0 a weather {}; 0 a weather ${full}`),
  '2 too many calls': {
    sent: Array.from({ length: 1_001 }, (_, at) => calls(`${at} c${at} stop {}`)).flat(),
    error: { kind: 'malformed', message: expect.stringContaining('1000 tools') },
  },
  '2 the head of the second call with index 0, its arguments with index 1': both(
    `0 a weather; 0 - - ${full}; 0 b stop; 1 - - {"now":; 1 - - true}`,
  ),
  '2 another id for the arguments': made('0 a weather; 0 x - {"city":; 0 x - "Rome"}'),
  '2 a new id with each fragment': made('0 a weather {"city"; 0 b - :"Ro; 0 c - me"}'),
  '2 a new id and the name with each fragment': made('0 a weather {"city"; 0 b weather :"Ro; 0 c weather me"}'),
  '2 a new id with each fragment, no index': made('- a weather; - b - {"city":; - c - "Rome"}'),
  '2 id and name with each fragment': made('0 a weather {"city"; 0 a weather :"Rome"}'),
  '2 id and name with each fragment, no index': made('- a weather {"city"; - a weather :"Rome"}'),
  '2 no index and no id': made('- - weather; - - - {"city":; - - - "Rome"}'),
  '2 no index, two calls in one delta': both(`- a weather ${full} & - b stop {"now":true}`),
  '2 no index, two calls in one delta, their arguments in the next': both(
    '- a weather & - b stop; - - - {"city": & - - - {"now":; - - - "Rome"} & - - - true}',
  ),
  '2 index 0 for both calls of one delta, their arguments in the next': both(
    `0 a weather & 0 b stop; 0 - - ${full} & 0 - - {"now":true}`,
  ),
  '2 all calls with index 0': both(`0 a weather; 0 - - ${full}; 0 b stop; 0 - - {"now":true}`),
  '2 all calls with index 0 and no id': both(`0 - weather ${full}; 0 - stop {"now":; 0 - - true}`),
  '2 the known id under another index': both(`0 a weather; 1 b stop; 0 b - {"now":true}; 1 a - ${full}`),
  '2 indexes from 1, interleaved': both(
    '1 a weather; 2 b stop; 1 - - {"city":; 2 - - {"now":; 1 - - "Rome"}; 2 - - true}',
  ),
  '2 an index as text': made(
    ...['- a weather', `- - - ${full}`].map((text) => choice({ tool_calls: [{ ...part(text), index: '0' }] })),
  ),
  '2 an empty fragment after the call': made(`0 a weather ${full}`, choice({ tool_calls: [empty] })),
  '2 the name after the id': made(`0 a -; 0 - weather ${full}`),
  '2 arguments as an object': made(
    choice({ tool_calls: [{ ...part('0 a -'), function: { name: 'weather', arguments: { city: 'Rome' } } }] }),
  ),
  '2 arguments as a number': {
    ...made(choice({ tool_calls: [{ ...part('0 a -'), function: { name: 'weather', arguments: 5 } }] })),
    calls: [['weather', '5']],
  },
  '2 one call in place of a list': made(choice({ tool_calls: part(`0 a weather ${full}`) })),
  '2 an empty object in place of a list': made(choice({ tool_calls: {} }), `0 a weather ${full}`),
  '2 a call as text': echoed(choice({ tool_calls: 'weather' }), called, done),
  '2 a list of texts in place of calls': echoed(choice({ tool_calls: ['weather'] }), called, done),
  '2 calls by number': echoed(choice({ tool_calls: { 0: part(`0 a weather ${full}`) } }), called, done),
  '2 a call without a function': {
    sent: plain({ tool_calls: [{ id: 'a', type: 'function', name: 'weather', args: { city: 'Rome' } }] }),
    error: { providerMessage: '{"id":"a","type":"function","name":"weather","args":{"city":"Rome"}}' },
  },
  '2 the name in two fragments': {
    sent: [...calls(`0 a wea; 0 a ther; 0 - - ${full}`), called, done],
    error: { kind: 'malformed', providerMessage: expect.stringContaining('ther') },
  },
  '2 arguments under another name': echoed(
    choice({ tool_calls: [{ ...part('0 a -'), function: { name: 'weather', parameters: { city: 'Rome' } } }] }),
    called,
    done,
  ),
  '2 two plain calls with the same id': {
    sent: plain({ tool_calls: [part(`- a weather ${full}`), part('- a stop {}')] }),
    chunks: [
      ...[{ id: 'a' }, {}, { id: 'call_1' }, {}],
      ...['a', 'call_1'].map((id) => ({ type: 'tool-call', id })),
      { type: 'finish' },
    ],
  },
  '2 a legacy call as text': echoed(choice({ function_call: 'weather' }), called, done),
  '2 arguments after an empty object in their place': made(`0 a weather {}; 0 - - ${full}`),
  '2 arguments repeated as a whole': made(`0 a weather; 0 - - ${full}; 0 - - ${full}`),
  '2 empty calls beside text': made(choice({ content: '', tool_calls: [] }), `0 a weather ${full}`),
  '2 the same tool twice with index 0 and no id': twice(`0 - weather ${full}; 0 - weather {"city":"Bern"}`),
  '2 the same tool twice with index 0 and two ids': twice(`0 a weather ${full}; 0 b weather {"city":"Bern"}`),
  '2 the arguments before the name, no index': made('- a - {"city":; - a - "Rome"}; - a weather'),
  '2 arguments without any call': nowhere(`0 - - ${full}`),
  '2 arguments after a complete call under another index': nowhere(`0 a weather ${full}; 1 - - {"now":true}`),
  '2 one fragment for one of two calls': nowhere('- a weather & - b stop; - - - {"now":true}'),
  '2 a plain call without a name': { ...nowhere(), sent: plain({ tool_calls: [part('- a - {"x":1}')] }, 'tool_calls') },

  '3 half of the arguments': { sent: [says('Wait'), ...calls('0 a weather {"ci'), stop('length'), done], ...wait },
  '3 none of the arguments': { sent: [says('Wait'), ...calls('0 a weather'), stop('length'), done], ...wait },
  '3 half of the second call': {
    sent: [...calls(`0 a weather ${full}; 1 b stop {"n`), stop('length'), done],
    finishReason: 'length',
  },
  '3 half of the arguments, plain': {
    sent: plain({ content: 'Wait', tool_calls: [part('0 a weather {"ci')] }, 'length'),
    ...wait,
  },
  '3 half of the arguments, filtered': {
    sent: [...calls('0 a weather {"ci'), stop('content_filter'), done],
    finishReason: 'content-filter',
  },
  '3 a complete call': {
    sent: [...calls(`0 a weather ${full}`), stop('length'), done],
    calls: [rome],
    finishReason: 'length',
  },
  '3 invalid arguments and no cut': invalid('{city'),
  '3 arguments that are not an object': invalid('[1]'),
}
