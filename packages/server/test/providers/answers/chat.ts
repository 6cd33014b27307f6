/** Answers of services with chat completions, as they were found in reports about vLLM, LiteLLM, OpenRouter and others. */
import { chatCallCases } from './chat-calls.ts'
import { chatErrorCases } from './chat-errors.ts'
import { called, calls, choice, done, part, rome, says, stop, usage } from './chat-frames.ts'
import type { AnswerCase, Json } from './shape.ts'

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
    name: '7 frames without blank lines between them',
    frames: [`data: ${JSON.stringify(says('H'))}\ndata: ${JSON.stringify(says('i', 'stop'))}\ndata: [DONE]\n\n`],
    end: 'open',
    text: 'Hi',
  },
  {
    name: '7 bare frames and a bare end mark',
    frames: [`${JSON.stringify(says('H'))}\n${JSON.stringify(says('i', 'stop'))}\n[DONE]\n`],
    text: 'Hi',
  },
  {
    name: '7 a refusal',
    frames: [choice({ refusal: 'I cannot ' }), choice({ refusal: 'do that.' }), stop(), done],
    text: 'I cannot do that.',
    finishReason: 'content-filter',
  },
]

export const chatCases: AnswerCase[] = [...chatCallCases, ...chatErrorCases, ...usages, ...choices, ...ends]
