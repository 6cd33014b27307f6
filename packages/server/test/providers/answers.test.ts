/** What each protocol's reader makes of an answer: one row per rule. `wires` has the answers that every kind gives. */
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { AnswerReader } from '../../src/adapters/providers/answer/frames.ts'
import { plainChunks, streamChunks } from '../../src/adapters/providers/answer/stream.ts'
import { MessageReader } from '../../src/adapters/providers/anthropic/answer.ts'
import { ChatReader } from '../../src/adapters/providers/openai/chat/answer.ts'
import { ResponseReader } from '../../src/adapters/providers/openai/responses/answer.ts'
import { providerLimits } from '../../src/adapters/providers/transport/transport.ts'
import type { ModelChunk, ProviderSettings } from '../../src/features/providers/model-driver.ts'
import { providerAt, serviceOf, textOf } from '../support/model-request.ts'
import type { Json } from './wires/shape.ts'

/** A list is a stream of frames, and everything else is a plain body. A string is sent unchanged. */
type Answer = readonly (Json | string)[] | Json | string
type Failed = { fails: object; text?: string }
type Row = [name: string, reader: () => AnswerReader, answer: Answer, expected: readonly object[] | Failed]

const settings = (more: Partial<ProviderSettings> = {}) => providerAt(null, { name: 'Main', ...more })
const chat = (kind = 'openai') => {
  return () => new ChatReader(serviceOf(settings({ kind })))
}
const responses = () => new ResponseReader(serviceOf(settings()))
const messages = (schema?: Json) => {
  return () => new MessageReader(settings({ kind: 'anthropic' }), schema)
}

const bytesOf = (frames: readonly (Json | string)[], end = '\n\n') =>
  Buffer.from(frames.map((each) => (typeof each === 'string' ? each : `data: ${JSON.stringify(each)}`) + end).join(''))

const readPieces = (reader: AnswerReader, pieces: readonly Uint8Array[], into: ModelChunk[]) =>
  streamChunks(Readable.from(pieces), reader, providerLimits, (batch) => void into.push(...batch))

async function read(reader: AnswerReader, answer: Answer, into: ModelChunk[] = []): Promise<ModelChunk[]> {
  if (Array.isArray(answer)) await readPieces(reader, [bytesOf(answer)], into)
  else into.push(...plainChunks(typeof answer === 'string' ? answer : JSON.stringify(answer), reader))
  return into
}

const delta = (words: Json, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: words, finish_reason }],
})
const message = (words: Json, finish_reason = 'stop', more: Json = {}) => ({
  choices: [{ index: 0, message: words, finish_reason }],
  ...more,
})
const tool = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
const toolCalls = (...calls: Json[]) => delta({ tool_calls: calls })
const encrypted = { type: 'reasoning.encrypted', data: 'AAAA', id: 'c1', format: 'google-gemini-v1', index: 1 }
const source = { type: 'source', payload: { sourceType: 'url', url: 'https://a.test', title: 'A' } }
const zurich = { args: { stadt: 'Zürich' }, rawArgs: '{"stadt":"Zürich"}' }
const counted = { inputTokens: 100, outputTokens: 20, totalTokens: 120, cachedInputTokens: 60 }
const allCounts = { ...counted, promptTokens: 100, completionTokens: 20 }

const wholeChat: Answer = [
  ': a comment',
  delta({ role: 'assistant', content: '' }),
  delta({ reasoning_content: 'denke…' }),
  delta({ content: 'Grüße 👋🏽 ' }),
  // The provider's tokenizer has split a surrogate pair.
  delta({ content: '\ud83d' }),
  delta({ content: '\ude00\u0000' }),
  toolCalls({ index: 0, ...tool, function: { name: 'f', arguments: '' } }),
  toolCalls({ index: 0, function: { arguments: '{"stadt":"Zü' } }),
  toolCalls({ index: 0, function: { arguments: 'rich"}' } }),
  delta({}, 'tool_calls'),
  { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 } },
  'data: [DONE]',
]
const chatChunks = [
  { type: 'reasoning-delta', text: 'denke…' },
  { type: 'text-delta', text: 'Grüße 👋🏽 ' },
  { type: 'text-delta', text: '😀\uFFFD' },
  { type: 'tool-input-start', id: 'c1', toolName: 'f' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"stadt":"Zü' },
  { type: 'tool-input-delta', id: 'c1', delta: 'rich"}' },
  { type: 'tool-call', id: 'c1', toolName: 'f', ...zurich },
  { type: 'finish', finishReason: 'tool-calls', usage: { inputTokens: 7, outputTokens: 5 } },
]
const wholeUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 6 },
}
const pages = [{ title: 'A', url: 'https://a.test' }, { title: 'no address' }]

const chatRows: Row[] = [
  ['all of a stream', chat(), wholeChat, chatChunks],
  [
    'only a finish reason',
    chat(),
    [delta({ content: 'x' }), delta({}, 'length')],
    [{}, { type: 'finish', finishReason: 'length' }],
  ],
  [
    'only the end mark',
    chat(),
    [delta({ content: 'x' }), 'data: [DONE]'],
    [{}, { type: 'finish', finishReason: 'unknown' }],
  ],
  [
    'arguments that are not an object',
    chat(),
    [toolCalls({ index: 0, ...tool, function: { name: 'f', arguments: '[1]' } }), delta({}, 'tool_calls')],
    [{}, {}, { type: 'tool-call', args: undefined, rawArgs: '[1]' }, {}],
  ],
  ['sources once, at the end', chat(), message({ content: 'x' }, 'stop', { search_results: pages }), [{}, source, {}]],
  [
    'cache writes',
    chat(),
    message({ content: 'x' }, 'stop', { usage: wholeUsage }),
    [{}, { cacheWriteTokens: 6, usage: { inputTokens: 100, cachedInputTokens: 60 } }],
  ],
  [
    "Google's call signature",
    chat('google'),
    message({ tool_calls: [{ ...tool, extra_content: { google: { thought_signature: 'sig' } } }] }),
    [{}, {}, { type: 'tool-call', seal: { signature: 'sig', provider: 'Main' } }, {}],
  ],
  [
    "a gateway's encrypted reasoning",
    chat('custom'),
    message({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text' }, encrypted], content: 'x' }),
    [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta' },
      { type: 'reasoning-end', seal: { signature: JSON.stringify([encrypted]), provider: 'Main' } },
      { type: 'finish' },
    ],
  ],
  [
    "DeepSeek's reasoning, which must be sent back",
    chat('deepseek'),
    message({ reasoning_content: 'hm', content: null, tool_calls: [tool] }),
    [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { provider: 'Main' } },
      ...[{}, {}, { type: 'tool-call' }, {}],
    ],
  ],
]

const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAA' }
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_9', name: 'f', arguments: zurich.rawArgs }
const page = { type: 'url_citation', url: 'https://a.test', title: 'A', start_index: 0, end_index: 1 }
const words = { type: 'message', content: [{ type: 'output_text', text: 'Grüße 👋🏽', annotations: [page] }] }
const responseUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}
const added = (item: Json) => ({ type: 'response.output_item.added', item })
const done = (item: Json) => ({ type: 'response.output_item.done', item })
const part = (type: string, more: Json) => ({ type: `response.${type}`, ...more })
const ofThought = { item_id: 'rs_1', summary_index: 0 }
const completed = part('completed', {
  response: { status: 'completed', output: [thought, words, call], usage: responseUsage },
})
const wholeResponse: Answer = [
  part('created', { response: { id: 'resp_1', status: 'in_progress' } }),
  added({ type: 'reasoning', id: 'rs_1', summary: [] }),
  part('reasoning_summary_part.added', ofThought),
  part('reasoning_summary_text.delta', { ...ofThought, delta: 'Erst' }),
  part('reasoning_summary_part.added', { ...ofThought, summary_index: 1 }),
  part('reasoning_summary_text.delta', { ...ofThought, summary_index: 1, delta: 'dann' }),
  done(thought),
  part('output_text.delta', { item_id: 'msg_1', delta: 'Grüße ' }),
  part('output_text.delta', { item_id: 'msg_1', delta: '👋🏽' }),
  part('output_text.annotation.added', { item_id: 'msg_1', annotation: page }),
  part('output_text.done', { item_id: 'msg_1', text: 'Grüße 👋🏽' }),
  done(words),
  added({ ...call, arguments: '' }),
  part('function_call_arguments.delta', { item_id: 'fc_1', delta: '{"stadt":"Zü' }),
  part('function_call_arguments.delta', { item_id: 'fc_1', delta: 'rich"}' }),
  part('function_call_arguments.done', { item_id: 'fc_1', arguments: call.arguments }),
  done(call),
  completed,
]
const thoughtEnd = { type: 'reasoning-end', id: 'rs_1', seal: { signature: 'gAAAAA', provider: 'Main' } }
const responseEnd = [
  { type: 'tool-call', id: 'call_9', toolName: 'f', ...zurich },
  { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 10, usage: { ...allCounts, reasoningTokens: 5 } },
]
const responseChunks = [
  { type: 'reasoning-delta', text: 'Erst', id: 'rs_1' },
  { type: 'reasoning-delta', text: '\n\n', id: 'rs_1' },
  { type: 'reasoning-delta', text: 'dann', id: 'rs_1' },
  thoughtEnd,
  { type: 'text-delta', text: 'Grüße ' },
  { type: 'text-delta', text: '👋🏽' },
  source,
  { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
  { type: 'tool-input-delta', id: 'call_9', delta: '{"stadt":"Zü' },
  { type: 'tool-input-delta', id: 'call_9', delta: 'rich"}' },
  ...responseEnd,
]
const summary = ['Erst', 'dann'].map((each) => ({ type: 'summary_text', text: each }))
const failed = { status: 'failed', error: { code: 'server_error', message: 'Oops' }, output: [] }

const responseRows: Row[] = [
  ['all of a stream', responses, wholeResponse, responseChunks],
  [
    'all of a plain answer',
    responses,
    { status: 'completed', output: [{ ...thought, summary }, words, call], usage: responseUsage },
    [
      { type: 'reasoning-delta', text: 'Erst\n\ndann', id: 'rs_1' },
      thoughtEnd,
      { type: 'text-delta', text: 'Grüße 👋🏽' },
      source,
      { type: 'tool-input-start', id: 'call_9', toolName: 'f' },
      { type: 'tool-input-delta', id: 'call_9', delta: call.arguments },
      ...responseEnd,
    ],
  ],
  [
    'an unknown reason of an incomplete answer',
    responses,
    [part('incomplete', { response: { status: 'incomplete' } })],
    [{ finishReason: 'other' }],
  ],
  [
    'a refusal',
    responses,
    [
      part('refusal.delta', { item_id: 'msg_1', delta: 'I cannot.' }),
      part('completed', { response: { status: 'completed', output: [] } }),
    ],
    [{ type: 'text-delta', text: 'I cannot.' }, {}],
  ],
  ['a failed plain answer', responses, failed, { fails: { status: 500, providerMessage: 'Oops' } }],
  [
    'an error frame',
    responses,
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'Oops' }],
    { fails: { kind: 'rate_limited', status: 429, providerMessage: 'Oops' } },
  ],
  [
    'an error frame without a code',
    responses,
    [{ type: 'error', error: { code: null, message: 'Oops' } }],
    { fails: { kind: 'unavailable', status: undefined, providerMessage: 'Oops' } },
  ],
]

const start = (usage: Json = { input_tokens: 7, output_tokens: 1 }) => ({ type: 'message_start', message: { usage } })
const block = (index: number, content_block: Json, ...deltas: Json[]): Json[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((each) => ({ type: 'content_block_delta', index, delta: each })),
  { type: 'content_block_stop', index },
]
const end = (stop_reason: string, usage: Json = { output_tokens: 5 }): Json[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const speech = (...texts: string[]) => texts.map((text) => ({ type: 'text_delta', text }))
const input = (...texts: string[]) => texts.map((partial_json) => ({ type: 'input_json_delta', partial_json }))
const use = (name: string, ...texts: string[]) => block(1, { type: 'tool_use', id: 't', name }, ...input(...texts))
const wholeMessage: Answer = [
  start({ input_tokens: 10, cache_creation_input_tokens: 30, cache_read_input_tokens: 60, output_tokens: 2 }),
  { type: 'ping' },
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Die Nutzerin grüßt' },
    { type: 'signature_delta', signature: 'EqQB' },
    { type: 'signature_delta', signature: 'CgIYAg==' },
  ),
  ...block(1, { type: 'redacted_thinking', data: 'EmwKAhgB' }),
  ...block(2, { type: 'text', text: '' }, ...speech('Grüße 👋🏽 ', '\ud83d', '\ude00.')),
  ...block(3, { type: 'tool_use', id: 't', name: 'f', input: {} }, ...input('', '{"stadt":"Zü', 'rich"}')),
  ...end('tool_use', { output_tokens: 20, output_tokens_details: { thinking_tokens: 6 } }),
]
const messageChunks = [
  { type: 'reasoning-delta', text: 'Die Nutzerin grüßt' },
  { type: 'reasoning-end', seal: { signature: 'EqQBCgIYAg==', provider: 'Main' } },
  { type: 'redacted-reasoning', data: 'EmwKAhgB', provider: 'Main' },
  { type: 'text-delta', text: 'Grüße 👋🏽 ' },
  { type: 'text-delta', text: '😀.' },
  { type: 'tool-input-start', id: 't', toolName: 'f' },
  { type: 'tool-input-delta', id: 't', delta: '{"stadt":"Zü' },
  { type: 'tool-input-delta', id: 't', delta: 'rich"}' },
  { type: 'tool-call', id: 't', toolName: 'f', ...zurich },
  { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 30, usage: { ...allCounts, reasoningTokens: 6 } },
]
const errorFrame = (type: string) => [
  start(),
  ...block(0, { type: 'text', text: 'a' }),
  { type: 'error', error: { type, message: 'Sorry' } },
]
const sorry = (failure: object): Failed => ({ fails: { ...failure, providerMessage: 'Sorry' }, text: 'a' })
const structured = messages({ type: 'object', properties: {} })
const oneText = (text: string, finishReason = 'stop') => [
  { type: 'text-delta', text },
  { type: 'finish', finishReason },
]

const messageRows: Row[] = [
  ['all of a stream', messages(), wholeMessage, messageChunks],
  [
    'all of a plain answer',
    messages(),
    {
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'hi' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 3 },
    },
    [
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-end', seal: { signature: 'sig' } },
      { type: 'text-delta', text: 'hi' },
      { type: 'tool-input-start' },
      { type: 'tool-input-delta', delta: '{"a":1}' },
      { type: 'tool-call', args: { a: 1 } },
      { type: 'finish', finishReason: 'tool-calls', cacheWriteTokens: 3, usage: { inputTokens: 4, outputTokens: 2 } },
    ],
  ],
  [
    'later token counts in place of earlier ones',
    messages(),
    [
      start({ input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 }),
      ...end('end_turn', { input_tokens: 11, cache_read_input_tokens: 4, output_tokens: 9 }),
    ],
    [{ usage: { inputTokens: 15, cachedInputTokens: 4, outputTokens: 9 } }],
  ],
  [
    'text beside an unknown frame',
    messages(),
    [start(), { type: 'tomorrow', index: 9 }, ...block(1, { type: 'text', text: 'hi' }), ...end('end_turn')],
    oneText('hi'),
  ],
  [
    'arguments that are cut off',
    messages(),
    [start(), ...use('f', '{"a":'), ...end('tool_use')],
    [{}, {}, { type: 'tool-call', args: undefined, rawArgs: '{"a":' }, { finishReason: 'tool-calls' }],
  ],
  [
    'a structured answer as text, without the text around it',
    structured,
    [start(), ...block(0, { type: 'text', text: 'Here:' }), ...use('structured_answer', '{"a":1}'), ...end('tool_use')],
    oneText('{"a":1}'),
  ],
  [
    'a structured answer that is not an object, unwrapped',
    messages({ type: 'array' }),
    [start(), ...use('structured_answer', '{"answer":[1,2]}'), ...end('tool_use')],
    oneText('[1,2]'),
  ],
  [
    'the text if the structured answer is missing',
    structured,
    [start(), ...block(0, { type: 'text', text: '{"a":1}' }), ...end('end_turn')],
    oneText('{"a":1}'),
  ],
  [
    'calls of the prompt’s tools next to a schema',
    structured,
    [start(), ...use('f', '{}'), ...end('tool_use')],
    [{}, {}, { type: 'tool-call', toolName: 'f' }, { finishReason: 'tool-calls' }],
  ],
  ['a rate limit', messages(), errorFrame('rate_limit_error'), sorry({ kind: 'rate_limited', status: 429 })],
  ['a refused request', messages(), errorFrame('invalid_request_error'), sorry({ kind: 'rejected', status: 400 })],
  ['another error', messages(), errorFrame('another_error'), sorry({ kind: 'unavailable', status: undefined })],
  ...['{"type":"message"}', '{', 'null'].map((body): Row => [body, messages(), body, { fails: { kind: 'malformed' } }]),
]

/** Content that no stet message can represent ends the call with an error that names it. */
const uncarried = (contentType: string): Failed => ({ fails: { kind: 'uncarried', contentType } })
const response = (...output: Json[]) => ({ status: 'completed', output })
const items = (...output: Json[]) => [...output.map(done), part('completed', { response: response(...output) })]
const click = { type: 'message', content: [{ type: 'output_text', text: 'I will click.' }] }
const clicked = [click, { type: 'computer_call', id: 'x' }]
const audio = { content: null, audio: { id: 'a', data: 'AAAA', transcript: 'Hi' } }
const custom = { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] }
const video = { content: [{ type: 'video_url', video_url: {} }] }
const sound = { type: 'message', content: [{ type: 'output_audio', data: 'AAAA', transcript: 'Hi' }] }
const upload = { type: 'container_upload' }
const both = (name: string, reader: () => AnswerReader, frames: Json[], plain: Json, type: string): Row[] => [
  [`${name}, streamed`, reader, frames, uncarried(type)],
  [`${name}, plain`, reader, plain, uncarried(type)],
]
const uncarriedRows: Row[] = [
  ...both('sound', chat(), [delta(audio, 'stop')], message(audio), 'audio'),
  ...both('a call that is not a function', chat(), [delta(custom, 'stop')], message(custom), 'custom tool call'),
  ...both('only an unknown part', chat(), [delta(video, 'stop')], message(video), 'video_url'),
  ...both('a computer call', responses, items(...clicked), response(...clicked), 'computer_call'),
  ...both('sound of Responses', responses, items(sound), response(sound), 'output_audio'),
  ...both('only an unknown item', responses, items({ type: 'hologram' }), response({ type: 'hologram' }), 'hologram'),
  ...both(
    'only an unknown block',
    messages(),
    [...block(0, upload), ...end('end_turn')],
    { type: 'message', content: [upload], stop_reason: 'end_turn' },
    'container_upload',
  ),
  [
    'earlier text',
    responses,
    [part('output_text.delta', { delta: 'Look' }), ...items({ type: 'shell_call' })],
    { ...uncarried('shell_call'), text: 'Look' },
  ],
  [
    'a part beside text',
    chat(),
    message({ content: [{ type: 'text', text: 'Hi' }, { type: 'video_url' }] }),
    oneText('Hi'),
  ],
  [
    'an item beside text',
    responses,
    response({ type: 'code_interpreter_call', id: 'x' }, click),
    oneText('I will click.'),
  ],
  [
    'a block beside text',
    messages(),
    { type: 'message', content: [{ type: 'server_tool_use' }, { type: 'text', text: 'Hi' }], stop_reason: 'end_turn' },
    oneText('Hi'),
  ],
  [
    'an incomplete answer of unsupported content',
    responses,
    {
      ...response({ type: 'web_search_call' }),
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    },
    [{ type: 'finish', finishReason: 'length' }],
  ],
]

describe.each([
  ['chat', chatRows],
  ['responses', responseRows],
  ['messages', messageRows],
  ['content that stet cannot represent', uncarriedRows],
])('%s', (_protocol, rows) => {
  it.each(rows)('%s', async (_name, reader, answer, expected) => {
    const seen: ModelChunk[] = []
    if (!('fails' in expected)) return expect(await read(reader(), answer)).toMatchObject(expected)
    expect(await read(reader(), answer, seen).catch((error: unknown) => error)).toMatchObject(expected.fails)
    if (expected.text !== undefined) expect(textOf(seen)).toBe(expected.text)
  })
})

describe.each([
  ['chat', chat(), wholeChat, chatChunks, 2],
  ['responses', responses, wholeResponse, responseChunks, 1],
  ['messages', messages(), wholeMessage, messageChunks, 2],
] as const)('stream in pieces: %s', (_protocol, reader, frames, chunks, ending) => {
  it('is the same in single bytes', async () => {
    const bytes = bytesOf(frames)
    const seen: ModelChunk[] = []
    await readPieces(
      reader(),
      Array.from(bytes, (byte) => Buffer.of(byte)),
      seen,
    )
    expect(seen).toMatchObject(chunks)
  })

  it('fails if it is cut off after any frame before its end', async () => {
    for (let whole = 1; whole < frames.length - ending; whole += 1) {
      const cut = bytesOf(frames.slice(0, whole))
      // The finish reason of chat completions completes an answer.
      if (cut.includes('"finish_reason":"tool_calls"')) continue
      await expect(readPieces(reader(), [cut.subarray(0, -5)], [])).rejects.toMatchObject({ kind: 'malformed' })
    }
  })
})

// All protocols use one parser of frames, so one of them is enough.
it.each(['\n\n', '\r\n\r\n'])('reads a stream that is split in two at any byte, with line ends %j', async (end) => {
  const bytes = bytesOf(wholeChat, end)
  for (let at = 1; at < bytes.length; at += 1) {
    const seen: ModelChunk[] = []
    await readPieces(chat()(), [bytes.subarray(0, at), bytes.subarray(at)], seen)
    expect(seen, String(at)).toMatchObject(chatChunks)
  }
})

it('accepts a frame with a whole image, but no larger frame', async () => {
  const typesOf = async (megabytes: number) => {
    const url = `data:image/png;base64,${'A'.repeat(megabytes * 1_000_000)}`
    const bytes = bytesOf([delta({ content: 'See', images: [{ type: 'image_url', image_url: { url } }] }, 'stop')])
    const pieces = Array.from({ length: megabytes + 1 }, (_, at) =>
      bytes.subarray(at * 1_000_000, (at + 1) * 1_000_000),
    )
    const seen: ModelChunk[] = []
    await readPieces(chat()(), pieces, seen)
    return seen.map(({ type }) => type)
  }
  expect(await typesOf(6)).toEqual(['text-delta', 'file', 'finish'])
  await expect(typesOf(17)).rejects.toMatchObject({ kind: 'malformed' })
})

describe('backpressure', () => {
  const piece = (text: string) => bytesOf([delta({ content: text })])

  it('pauses the provider, and then delivers the whole answer in order', async () => {
    const body = new Readable({ read: () => undefined })
    const seen: ModelChunk[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const whole = streamChunks(body, chat()(), providerLimits, (batch) => {
      seen.push(...batch)
      return gate
    })
    body.push(piece('0'))
    await expect.poll(() => body.isPaused()).toBe(true)
    for (let pieces = 1; pieces < 99; pieces += 1) body.push(piece(`,${pieces}`))
    body.push('data: [DONE]\n\n')
    body.push(null)
    expect(textOf(seen)).toBe('0')
    expect(body.readableLength).toBeGreaterThan(1_000)
    open()
    await whole
    expect(textOf(seen)).toBe(Array.from({ length: 99 }, (_, index) => index).join())
    expect(seen.at(-1)?.type).toBe('finish')
  })

  it('processes waiting chunks before it reports a failure', async () => {
    const body = new Readable({ read: () => undefined })
    let taken = false
    const failing = streamChunks(body, chat()(), providerLimits, async () => {
      body.destroy()
      await new Promise((resolve) => body.on('close', resolve))
      taken = true
    })
    body.push(piece('last'))
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable' })
    expect(taken).toBe(true)
  })
})
