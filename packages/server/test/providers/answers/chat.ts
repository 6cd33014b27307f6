/** Answers of services with chat completions, as they were found in reports about vLLM, LiteLLM, OpenRouter and others. */
import { chatCallCases } from './chat-calls.ts'
import { chatErrorCases } from './chat-errors.ts'
import { called, calls, choice, hi, part, plain, says, stop, usage } from './chat-frames.ts'
import {
  type AnswerCase,
  type Cases,
  cut,
  done,
  echoed,
  eventOf,
  fails,
  full,
  type Json,
  type Outcome,
  oneText,
  rome,
  source,
  tokens,
  uncarried,
  zurich,
} from './shape.ts'

export const wholeChat = {
  sent: [
    ': a comment\n\n',
    choice({ role: 'assistant', content: '' }),
    choice({ reasoning_content: 'denke…' }),
    says('Grüße 👋🏽 '),
    // The provider's tokenizer has split a surrogate pair.
    ...[says('\ud83d'), says('\ude00\u0000')],
    ...calls('0 c1 f; 0 - - {"stadt":"Zü; 0 - - rich"}'),
    called,
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } },
    done,
  ],
  chunks: [
    { type: 'reasoning-delta', text: 'denke…' },
    { type: 'text-delta', text: 'Grüße 👋🏽 ' },
    { type: 'text-delta', text: '😀\uFFFD' },
    { type: 'tool-input-start', id: 'c1', toolName: 'f' },
    { type: 'tool-input-delta', id: 'c1', delta: '{"stadt":"Zü' },
    { type: 'tool-input-delta', id: 'c1', delta: 'rich"}' },
    { type: 'tool-call', id: 'c1', toolName: 'f', ...zurich },
    { type: 'finish', finishReason: 'tool-calls', usage: tokens(7, 5) },
  ],
}

const tool = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const encrypted = { type: 'reasoning.encrypted', data: 'AAAA', id: 'c1', format: 'google-gemini-v1', index: 1 }
const pages = [{ title: 'A', url: 'https://a.test' }, { title: 'no address' }]
const written = { prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 6 } }
const audio = { content: null, audio: { id: 'a', data: 'AAAA', transcript: 'Hi' } }
const custom = { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] }
const partCall = {
  content: [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', name: 'weather', input: {} },
  ],
}
const video = { content: [{ type: 'video_url', video_url: {} }] }

/** Chunks other than text, calls and usage. */
const contents: Cases = {
  'all of a stream': { ...wholeChat, isSplit: true },
  'all of a stream with line ends of Windows': {
    ...wholeChat,
    sent: wholeChat.sent.map((each) => (typeof each === 'string' ? each : eventOf(each)).replaceAll('\n', '\r\n')),
    isSplit: true,
  },
  'sources once, at the end': {
    sent: plain({ content: 'x' }, 'stop', { search_results: pages }),
    chunks: [{}, source, {}],
  },
  'cache writes': {
    sent: plain({ content: 'x' }, 'stop', { usage: written }),
    chunks: [{}, { cacheWriteTokens: 6, usage: { inputTokens: 100, cachedInputTokens: 60 } }],
  },
  "Google's call signature": {
    kind: 'google',
    sent: plain({ tool_calls: [{ ...tool, extra_content: { google: { thought_signature: 'sig' } } }] }),
    chunks: [{}, {}, { type: 'tool-call', seal: { signature: 'sig', provider: 'Main' } }, {}],
  },
  "a gateway's encrypted reasoning": {
    kind: 'custom',
    sent: plain({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text' }, encrypted], content: 'x' }),
    chunks: [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta' },
      { type: 'reasoning-end', seal: { signature: JSON.stringify([encrypted]), provider: 'Main' } },
      { type: 'finish' },
    ],
  },
  "DeepSeek's reasoning, which must be sent back": {
    kind: 'deepseek',
    sent: plain({ reasoning_content: 'hm', content: null, tool_calls: [tool] }),
    chunks: [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { provider: 'Main' } },
      ...[{}, {}, { type: 'tool-call' }, {}],
    ],
  },
  ...uncarried('sound', 'audio', [choice(audio, 'stop')], plain(audio)),
  ...uncarried('a call that is not a function', 'custom tool call', [choice(custom, 'stop')], plain(custom)),
  ...uncarried('a call as a part beside text', 'tool_use', [choice(partCall, 'stop')], plain(partCall)),
  ...uncarried('only an unknown part', 'video_url', [choice(video, 'stop')], plain(video)),
  'a part beside text': {
    sent: plain({ content: [{ type: 'text', text: 'Hi' }, { type: 'video_url' }] }),
    chunks: oneText('Hi'),
  },
}

const counts = {
  prompt_tokens: 12,
  completion_tokens: 8,
  total_tokens: 20,
  prompt_tokens_details: { cached_tokens: 5 },
}
const counted = { ...tokens(12, 8), cachedInputTokens: 5 }
const countedIn = (later: Json): AnswerCase => ({
  ...hi(choice({ content: 'Hi' }, 'stop', { usage: counts }), later),
  usage: counted,
})
const later = (usage: Json) => countedIn({ choices: [], usage })

const usages: Cases = {
  '5 a later null': countedIn(choice({}, null, { usage: null })),
  '5 later empty counts': later({}),
  '5 later counts of null': later({ prompt_tokens: null, completion_tokens: null, prompt_tokens_details: null }),
  '5 later details without counts': later({ prompt_tokens_details: {} }),
  '5 later zeros': countedIn(usage(0, 0)),
  '5 a later part of the counts': later({ completion_tokens: 8 }),
  '5 later counts that no answer can have': countedIn(usage('9'.repeat(26), 1e300)),
  '5 numbers as text': { ...hi(says('Hi', 'stop'), usage('12', '8')), usage: tokens(12, 8) },
  '5 counts that grow': {
    ...hi(
      choice({ content: 'H' }, null, { usage: { prompt_tokens: 12, completion_tokens: 1 } }),
      choice({ content: 'i' }, 'stop', { usage: { completion_tokens: 2 } }),
    ),
    usage: tokens(12, 2),
  },
  '5 counts in the choice': {
    ...hi({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop', usage: counts }] }),
    usage: counted,
  },
  '5 the names of Responses': {
    ...hi(says('Hi', 'stop'), { choices: [], usage: { input_tokens: 12, output_tokens: 8 } }),
    usage: tokens(12, 8),
  },
}

const frame = (...choices: Json[]): Json => ({ choices })
const nth = (index: number | undefined, delta: string | Json, finish_reason: string | null = null): Json => ({
  index,
  delta: typeof delta === 'string' ? { content: delta } : delta,
  finish_reason,
})
const message = (content: string, more: Json = {}) => frame({ message: { content }, ...more })
const ended = { finish_reason: 'stop' }
const weather = { tool_calls: [part(`- a weather ${full}`)] }
const asked: Outcome = { calls: [rome], finishReason: 'tool-calls' }
const looked = { text: 'Look', ...asked }
const legacy = [{ name: 'weather', arguments: '' }, { arguments: '{"city":' }, { arguments: '"Rome"}' }]

const choices: Cases = {
  '6 only a choice with index 1': hi(frame(nth(1, 'Hi', 'stop'))),
  '6 an index that rises with each frame': hi(frame(nth(0, 'H')), frame(nth(1, 'i')), frame(nth(2, {}, 'stop'))),
  '6 two choices with index 0': hi(frame(nth(0, 'H'), nth(0, 'i', 'stop'))),
  '6 two choices without an index': hi(frame(nth(undefined, 'H'), nth(undefined, 'i', 'stop'))),
  '6 text and call in two choices': {
    sent: frame(
      ...[{ content: 'Look' }, weather].map((each) => ({ index: 0, message: each, finish_reason: 'tool_calls' })),
    ),
    ...looked,
  },
  '6 text and call in choices of two indexes': {
    sent: [frame(nth(0, 'Look')), frame(nth(1, weather)), frame(nth(0, {}, 'stop'), nth(1, {}, 'tool_calls')), done],
    ...looked,
  },
  '6 two answers, where two were asked for': {
    settings: { n: 2 },
    sent: [frame(nth(0, 'A')), frame(nth(1, 'B')), frame(nth(1, {}, 'stop'), nth(0, {}, 'stop')), done],
    text: 'A',
  },
  '6 two answers in one frame': {
    sent: frame(...['B', 'A'].map((content, at) => ({ index: 1 - at, message: { content }, ...ended }))),
    text: 'A',
  },
  '6 two answers in frames of their own': hi(
    ...[frame(nth(0, 'H')), frame(nth(1, 'A')), frame(nth(0, 'i')), frame(nth(1, 'B'))],
    ...[frame(nth(1, weather)), frame(nth(1, {}, 'length')), frame(nth(0, {}, 'stop'))],
  ),
  '6 two answers in frames of their own, after their roles': hi(
    ...[frame(nth(0, { role: 'assistant' })), frame(nth(1, { role: 'assistant' }))],
    ...[frame(nth(0, 'Hi')), frame(nth(1, 'A')), frame(nth(0, {}, 'stop')), frame(nth(1, {}, 'stop'))],
  ),
  '6 two answers, one after the other': hi(
    ...[frame(nth(0, 'H')), frame(nth(0, 'i')), frame(nth(0, {}, 'stop'))],
    ...[frame(nth(1, 'A')), frame(nth(1, {}, 'length'))],
  ),
  '6 two answers in one frame each': hi(frame(nth(0, 'Hi', 'stop')), frame(nth(1, 'A', 'length'))),
  '6 the second of two answers ends first, broken off': {
    sent: [frame(nth(0, 'H')), frame(nth(1, 'A')), frame(nth(0, 'i')), frame(nth(1, {}, 'stop'))],
    text: 'Hi',
    error: cut,
  },
  '6 two answers in frames of both': hi(
    frame(nth(0, 'H'), nth(1, 'A')),
    frame(nth(0, 'i'), nth(1, 'B')),
    frame(nth(0, {}, 'stop'), nth(1, {}, 'length')),
  ),
  '6 an index that rises from 1, and the reason beside text': hi(frame(nth(1, 'H')), frame(nth(2, 'i', 'stop'))),
  '6 an index that rises with each frame, many': {
    sent: [...'abcdef'].map((each, at) => frame(nth(at, each, at === 5 ? 'stop' : null))),
    text: 'abcdef',
  },
  '6 an index that rises, no finish reason': {
    ...hi(frame(nth(0, 'H')), frame(nth(1, 'i'))),
    finishReason: 'unknown',
  },
  '6 three answers in frames of their own': {
    sent: [0, 1, 2, 0, 1, 2].map((index) => frame(nth(index, 'a'))),
    error: { kind: 'malformed' },
  },
  '6 a message in place of a delta': hi(plain({ content: 'Hi' })),
  '6 messages that grow': { sent: [message('H'), message('Hi'), message('Hi!'), message('Hi!', ended)], text: 'Hi!' },
  '6 messages with the next words': {
    sent: [message('One'), message(' two'), message(' three'), message('', ended)],
    text: 'One two three',
  },
  '6 deltas and the whole message at the end': {
    sent: [says('H'), says('i'), { object: 'chat.completion', ...message('Hi there', ended) }, done],
    text: 'Hi there',
  },
  '6 empty deltas beside messages': hi(message('Hi', { delta: { content: '' }, ...ended })),
  '6 deltas beside messages': hi(
    message('H', { delta: { content: 'H' } }),
    message('Hi', { delta: { content: 'i' }, ...ended }),
  ),
  '6 a call in the message at the end': {
    sent: [says('Look'), plain({ content: 'Look', ...weather }, 'tool_calls'), done],
    ...looked,
  },
  '6 texts': hi(frame({ index: 0, text: 'H', finish_reason: null }), frame({ index: 0, text: 'i', ...ended })),
  '6 a plain text': { sent: { object: 'text_completion', ...frame({ text: 'Hi', ...ended }) }, text: 'Hi' },
  '6 a plain delta': { sent: frame({ delta: { content: 'Hi' }, ...ended }), text: 'Hi' },
  '6 a legacy function call': {
    sent: [...legacy.map((function_call) => choice({ function_call })), stop('function_call'), done],
    ...asked,
  },
  '6 a plain legacy function call': {
    sent: plain({ content: null, function_call: { name: 'weather', arguments: full } }, 'function_call'),
    ...asked,
  },
  '6 content as parts of other names': hi(
    choice({ content: [{ type: 'output_text', text: 'H' }, { text: 'i' }] }, 'stop'),
  ),
  '6 content as one part': hi(choice({ content: { type: 'text', text: 'Hi' } }, 'stop')),
  '6 choices of an unknown form': {
    sent: [frame({ index: 0, output: 'Hi', ...ended }), done],
    error: { providerMessage: '{"choices":[{"index":0,"output":"Hi","finish_reason":"stop"}]}' },
  },
  '6 an empty answer': { sent: [choice({ role: 'assistant', content: '' }), stop(), done], text: '' },
}

/** Content of unknown forms, in a stream and in a plain answer, alone and after text. */
const unread = (...contents: unknown[]): Cases =>
  Object.fromEntries(
    contents.flatMap((content) => {
      const [frame, whole] = [choice({ content }), plain({ content })]
      const name = `6 content ${JSON.stringify(content)}`
      return [
        [name, echoed(frame, stop(), done)],
        [`${name} after text`, { ...echoed(frame, stop(), done), sent: [says('Hi'), frame, stop(), done], text: 'Hi' }],
        [`${name}, plain`, fails(whole, JSON.stringify(whole))],
      ]
    }),
  )
const unreadChoice = (...choices: unknown[]): Cases =>
  Object.fromEntries(
    choices.map((one) => [`6 a choice ${JSON.stringify(one)}`, echoed({ choices: [one] }, stop(), done)]),
  )
const forms: Cases = {
  ...unread(5, true, { answer: 'Hi' }, [5], [['Hi']], { type: 'text', text: 5 }, [{ type: 'text', text: { a: 'Hi' } }]),
  ...unreadChoice('Hi', { delta: 'Hi' }, { message: 'Hi' }, { text: 5 }, { delta: ['Hi'] }),
  ...unreadChoice(
    { output: { content: 'Hi' } },
    { delta: { parts: [{ text: 'Hi' }] } },
    { delta: { refusal: { a: 'No' } } },
  ),
  ...unreadChoice({ delta: { reasoning: { text: 'Hm' } } }),
  '6 content of texts': hi(choice({ content: ['H', 'i'] }, 'stop')),
  '6 an empty object as content': hi(choice({ content: {} }), says('Hi'), stop()),
  '6 one part of an unknown type': { sent: plain({ content: video.content[0] }), error: { kind: 'uncarried' } },
  '6 the results of a filter and no content': {
    sent: plain({ content: null }, 'content_filter', {
      choices: [
        {
          finish_reason: 'content_filter',
          message: { content: null },
          content_filter_results: { hate: { filtered: true } },
        },
      ],
    }),
    text: '',
    finishReason: 'content-filter',
  },
}

const lines = [says('H'), says('i', 'stop')].map((each) => JSON.stringify(each))
const unfinished = 'data: {"choices":[{"delta":{"content":"a'
const ends: Cases = {
  '7 an open connection after usage': {
    sent: [says('Hi'), stop(), usage(12, 8)],
    end: 'open',
    text: 'Hi',
    usage: tokens(12, 8),
  },
  '7 a reset after the finish reason of a call': {
    sent: [...calls(`0 a weather ${full}`), called],
    end: 'reset',
    ...asked,
  },
  '7 an open connection after the end mark': { ...hi(says('Hi', 'stop')), end: 'open' },
  '7 half a frame after the finish reason': { sent: [says('Hi', 'stop'), 'data: {"choi'], text: 'Hi' },
  '7 an end mark with blanks': {
    sent: [says('Hi', 'stop'), 'data:  [DONE] \n\n'],
    end: 'open',
    text: 'Hi',
    isSplit: true,
  },
  '7 empty data': { ...hi('data:\n\n', says('Hi'), 'data: \n\n', stop()), isSplit: true },
  '7 text pings': hi(says('Hi'), 'data: ping\n\n', 'data: keep-alive\n\n', stop()),
  '7 a ping event': hi('event: ping\ndata: 2026-11-27 13:00:00\n\n', says('Hi'), stop()),
  '7 JSON pings': hi({ type: 'ping' }, says('Hi'), {}, stop()),
  '7 a text ping and no finish reason': { ...hi(says('Hi'), 'data: ping\n\n'), finishReason: 'unknown' },
  '7 invalid UTF-8': {
    sent: [unfinished, Uint8Array.of(0xc3, 0x28, 0xff), 'b"}}]}\n\n', stop(), done],
    text: 'a\ufffd(\ufffdb',
    isSplit: true,
  },
  '7 a character that is cut in two by frames': {
    sent: [unfinished, Uint8Array.of(0xe2, 0x82), '"}}]}\n\n', stop(), done],
    text: 'a\ufffd',
    isSplit: true,
  },
  '7 frames without blank lines between them': {
    sent: [`data: ${lines.join('\ndata: ')}\ndata: [DONE]\n\n`],
    end: 'open',
    text: 'Hi',
  },
  '7 bare frames and a bare end mark': { sent: [`${lines.join('\n')}\n[DONE]\n`], text: 'Hi' },
  '7 a refusal': {
    sent: [choice({ refusal: 'I cannot ' }), choice({ refusal: 'do that.' }), stop(), done],
    text: 'I cannot do that.',
    finishReason: 'content-filter',
  },
}

export const chatCases = [contents, chatCallCases, chatErrorCases, usages, choices, forms, ends]
