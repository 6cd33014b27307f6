import type { Message, ProviderEvent } from '@stet/contract/vocabulary'
import { expect, test } from 'vitest'
import type { LogEntry, StoredConversation, StoredFrames } from '../../features/runs/ports.ts'
import type { RunEvent } from '../../features/runs/run.ts'
import { RunError } from '../../shared/app-error.ts'
import { encodeEvent, encodeMessage, encodeResponse } from '../run-frames.ts'
import { completionFrames, completionObject } from './chat-completion.ts'
import { placeOfItem, runOfResponse } from './names.ts'
import { readResponsesRequest } from './request.ts'
import { type DoorRun, responseObject, responseStream } from './responses.ts'
import { keptText, readKept, storedEnd } from './stored-run.ts'

const conversationUuid = '11111111-1111-4111-8111-111111111111'
const runUuid = '22222222-2222-4222-8222-222222222222'
const source = { uuid: conversationUuid, documentUuid: conversationUuid, versionUuid: conversationUuid }
const at = new Date('2026-11-29T10:00:00.500Z')
const usage = { inputTokens: 12, outputTokens: 7, promptTokens: 12, completionTokens: 7, totalTokens: 19 }
const tokenUsage = { ...usage, cachedInputTokens: 2, reasoningTokens: 3 }
const { kept } = readResponsesRequest({ model: 'support/reply', tools: [{ type: 'function', name: 'search' }] })
const run: DoorRun = {
  ...{ runUuid, conversationUuid, versionUuid: conversationUuid, version: 12, path: 'support/reply' },
  ...{ createdAt: new Date('2026-11-29T09:59:58Z'), hasSteps: false, request: kept, toolNames: ['search'] },
}

type Part = ['text' | 'reasoning', string] | ['client' | 'server', string]

interface Played {
  /** The parts of each model call. */
  calls: Part[][]
  finishReason?: 'stop' | 'length' | 'content-filter' | 'tool-calls'
  error?: 'ai_run_error' | 'abort_error' | 'worker_lost'
  /** The index of the first model call of each step. */
  steps?: number[]
}

/** Plays a run: its log, and its row at the end. */
function played({ calls, finishReason = 'stop', error, steps = [0] }: Played) {
  const asked: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
  const messages: Message[] = [...asked]
  const entries: LogEntry[] = []
  const show = (event: RunEvent) => entries.push(encodeEvent(event, entries.length + 1, at, source))
  const provider = (event: ProviderEvent) => show({ provider: event })
  show({ latitude: { type: 'chain-started' }, covers: 0 })
  const requests: { id: string; name: string; arguments: Record<string, unknown> }[] = []
  let stepStart = 1
  for (const [number, parts] of calls.entries()) {
    if (steps.includes(number)) {
      show({ latitude: { type: 'step-started' }, covers: messages.length })
      stepStart = messages.length
    }
    provider({ type: 'start-step', step: number + 1 })
    const message: Message = { role: 'assistant', content: [] }
    const results: Message = { role: 'tool', content: [] }
    for (const [place, [kind, text]] of parts.entries()) {
      const last = message.content.at(-1)
      if (kind === 'text') {
        provider({ type: 'text-delta', id: 't', textDelta: text })
        if (last?.type === 'text') last.text += text
        else message.content.push({ type: 'text', text })
      } else if (kind === 'reasoning') {
        provider({ type: 'reasoning-delta', id: 'r', text })
        if (last?.type === 'reasoning') last.text += text
        else message.content.push({ type: 'reasoning', text, id: 'r' })
      } else {
        const call = { toolCallId: `call_${number}_${place}`, toolName: text, args: { q: place } }
        const sourceOf = { client: 'client', server: 'serverTool' } as const
        provider({ type: 'tool-input-start', id: call.toolCallId, toolName: text })
        provider({ type: 'tool-call', ...call, _sourceData: { source: sourceOf[kind] } })
        message.content.push({ type: 'tool-call', ...call })
        if (kind === 'client') requests.push({ id: call.toolCallId, name: text, arguments: call.args })
        else results.content.push({ type: 'tool-result', toolCallId: call.toolCallId, toolName: text, result: 1 })
      }
    }
    messages.push(message, ...(results.content.length > 0 ? [results] : []))
  }
  const response = {
    streamType: 'text' as const,
    ...{ text: '', usage: tokenUsage, cost: 0.001, model: 'gpt', provider: 'openai', finishReason, toolCalls: [] },
    ...{ input: [[0, 1]] as const, output: [[stepStart, messages.length]] as const },
  }
  const shared = { cost: 0.001, tokenUsage }
  const failure = error && new RunError(error, 'It failed')
  if (failure) show({ latitude: { type: 'chain-error', error: failure, ...shared }, covers: messages.length })
  else {
    const encoded = encodeResponse(response, conversationUuid)
    const end = { response: encoded, toolCalls: [], finishReason, toolRequests: requests, ...shared }
    show({ latitude: { type: 'chain-completed', ...end }, covers: messages.length })
  }
  const stored = {
    ...{ uuid: conversationUuid, messages, status: 'completed', updatedAt: at, config: {} },
    latestRun: {
      ...{ uuid: runUuid, status: failure ? 'error' : 'completed', endedAt: at, givenFrom: 0, givenCount: 1 },
      result: {
        ...{ tokenUsage, cost: 0.001, costUnknown: false, toolRequests: failure ? [] : requests },
        ...(failure ? { error: { code: failure.code, message: failure.message, details: {} } } : { response }),
      },
    },
  } as unknown as StoredConversation
  return { entries, messages: messages.map(encodeMessage), stored }
}

interface Sent {
  type: string
  sequence_number: number
  [key: string]: unknown
}

function textOf(entries: readonly (LogEntry | StoredFrames)[], of: DoorRun, startingAfter?: number): string {
  const { head, addFrame } = responseStream(of, startingAfter)
  const into: (string | Buffer)[] = [head]
  for (const entry of entries) addFrame(into, entry, [])
  return into.join('')
}

function eventsOf(text: string): Sent[] {
  const frames = text.split('\n\n').filter(Boolean)
  expect(frames.pop()).toBe('data: [DONE]')
  return frames.map((each) => {
    const [, type, json = ''] = /^event: ([a-z._]+)\ndata: (.*)$/.exec(each) ?? []
    const event = JSON.parse(json) as Sent
    expect(event.type).toBe(type)
    return event
  })
}

const kinds: Record<string, Played> = {
  text: {
    calls: [
      [
        ['text', 'Hel'],
        ['text', 'lo'],
      ],
    ],
  },
  'reasoning and text': {
    calls: [
      [
        ['reasoning', 'Hm'],
        ['text', 'Hello'],
      ],
    ],
  },
  'text, call, text, call': {
    calls: [
      [
        ['text', 'A'],
        ['client', 'search'],
        ['text', 'B'],
        ['client', 'search'],
      ],
    ],
    finishReason: 'tool-calls',
  },
  'two model calls with a tool of the server between': {
    calls: [
      [
        ['text', 'One'],
        ['server', 'clock'],
      ],
      [['text', 'Two']],
    ],
  },
  length: { calls: [[['text', 'Cut']]], finishReason: 'length' },
  failed: {
    calls: [
      [
        ['reasoning', 'Hm'],
        ['text', 'Par'],
      ],
    ],
    error: 'ai_run_error',
  },
  cancelled: { calls: [[['text', 'Par']]], error: 'abort_error' },
  nothing: { calls: [[]] },
}

test.each(Object.entries(kinds))('%s: the last event has what a later read shows, byte for byte', (_, kind) => {
  const { entries, stored } = played(kind)
  const events = eventsOf(textOf(entries, run))
  const end = storedEnd(stored, run.toolNames)
  expect(JSON.stringify(events.at(-1)?.['response'])).toBe(JSON.stringify(responseObject(run, end)))
})

test.each(Object.entries(kinds))('%s: cut after every event, the rest makes the stream whole', (_, kind) => {
  const { entries } = played(kind)
  const whole = textOf(entries, run)
  const frames = whole.split('\n\n').filter(Boolean)
  for (let after = 0; after < frames.length - 1; after += 1) {
    const rest = textOf(entries, run, after)
    expect(`${frames.slice(0, after + 1).join('\n\n')}\n\n${rest}`).toBe(whole)
  }
  expect(textOf(entries, run, frames.length + 5)).toBe('data: [DONE]\n\n')
  // Another server reads the log as bytes.
  const bytes = entries.slice(1, -1).map((entry) => [entry.pieces].flat().join(''))
  const packed: StoredFrames = { id: 2, lastId: entries.length - 1, bytes: Buffer.from(bytes.join('')) }
  const [first, last] = [entries[0], entries.at(-1)]
  if (first && last) expect(textOf([first, ...(bytes.length > 0 ? [packed] : []), last], run)).toBe(whole)
})

test('numbers rise by one, and every item is added, grows and is done with its id and place', () => {
  const events = eventsOf(textOf(played(kinds['reasoning and text'] ?? { calls: [] }).entries, run))
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, place) => place))
  expect(events.map(({ type }) => type)).toEqual([
    ...['response.created', 'response.in_progress'],
    ...['response.output_item.added', 'response.reasoning_summary_part.added'],
    ...['response.reasoning_summary_text.delta', 'response.reasoning_summary_text.done'],
    ...['response.reasoning_summary_part.done', 'response.output_item.done'],
    ...['response.output_item.added', 'response.content_part.added', 'response.output_text.delta'],
    ...['response.output_text.done', 'response.content_part.done', 'response.output_item.done'],
    'response.completed',
  ])
  const digits = runUuid.replaceAll('-', '')
  const delta = events.find(({ type }) => type === 'response.output_text.delta')
  expect(delta).toMatchObject({
    item_id: `msg_${digits}_1`,
    output_index: 1,
    content_index: 0,
    delta: 'Hello',
    logprobs: [],
  })
  expect(events.find(({ type }) => type === 'response.content_part.added')).toMatchObject({
    part: { type: 'output_text', text: '', annotations: [] },
  })
  expect(events[2]).toMatchObject({ item: { id: `rs_${digits}_0`, type: 'reasoning', summary: [] } })
  expect(events.at(-1)).toMatchObject({
    response: {
      ...{ id: `resp_${digits}`, object: 'response', created_at: 1795946398, completed_at: 1795946400 },
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] },
        { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Hello' }] },
      ],
      usage: { input_tokens: 12, input_tokens_details: { cached_tokens: 2 }, output_tokens: 7, total_tokens: 19 },
      stet: { promptPath: 'support/reply', version: 12, model: 'gpt', cost: 0.001 },
    },
  })
})

test('a call is shown at once with its whole arguments, and items keep the order in which they appeared', () => {
  const { entries, stored } = played(kinds['text, call, text, call'] ?? { calls: [] })
  const events = eventsOf(textOf(entries, run))
  const added = events.filter(({ type }) => type === 'response.output_item.added')
  expect(added.map(({ item }) => (item as { type: string }).type)).toEqual([
    'message',
    'function_call',
    'function_call',
  ])
  const call = events.find(({ type }) => type === 'response.function_call_arguments.done')
  expect(call).toMatchObject({ name: 'search', arguments: '{"q":1}', output_index: 1 })
  const end = storedEnd(stored, run.toolNames)
  if (typeof end === 'string') throw new Error('The run has ended')
  const { choices } = completionObject(run, end.end, end.output) as { choices: unknown[] }
  expect(choices).toMatchObject([
    {
      ...{ index: 0, finish_reason: 'tool_calls' },
      message: {
        ...{ role: 'assistant', content: 'AB' },
        tool_calls: [
          { id: 'call_0_1', type: 'function', function: { name: 'search', arguments: '{"q":1}' } },
          { id: 'call_0_3', type: 'function', function: { name: 'search', arguments: '{"q":3}' } },
        ],
      },
    },
  ])
})

test.each([
  ['length', 'response.incomplete', 'incomplete', { reason: 'max_output_tokens' }, null],
  ['failed', 'response.failed', 'failed', null, { code: 'ai_run_error', message: 'It failed' }],
  ['cancelled', 'response.incomplete', 'cancelled', { reason: 'cancelled' }, null],
  ['text', 'response.completed', 'completed', null, null],
])('%s ends with %s and the status %s', (kind, type, status, incomplete_details, error) => {
  const events = eventsOf(textOf(played(kinds[kind] ?? { calls: [] }).entries, run))
  expect(events.at(-1)).toMatchObject({ type, response: { status, incomplete_details, error } })
  const done = events.findLast((each) => each.type === 'response.output_item.done')
  expect(done).toMatchObject({ item: { status: status === 'completed' ? 'completed' : 'incomplete' } })
})

test('only the last step of a prompt with steps is shown, in one piece at the end', () => {
  const steps = { ...run, hasSteps: true }
  const { entries, stored } = played({
    calls: [
      [['text', 'Plan']],
      [
        ['text', 'An'],
        ['text', 'swer'],
      ],
    ],
    steps: [0, 1],
  })
  expect(textOf(entries.slice(0, -1), steps)).not.toContain('output_item')
  const events = eventsOf(textOf(entries, steps))
  expect(events.filter(({ type }) => type.endsWith('text.delta'))).toMatchObject([{ delta: 'Answer', output_index: 0 }])
  expect(JSON.stringify(events.at(-1)?.['response'])).toBe(
    JSON.stringify(responseObject(steps, storedEnd(stored, run.toolNames))),
  )
})

test('a run whose server died ends after all events that were sent, and one that never started has a start too', () => {
  const { entries } = played({ calls: [[['text', 'Par']]], error: 'worker_lost' })
  const whole = eventsOf(textOf(entries, run))
  // The log of the run is gone with its server: only the end is stored.
  const rest = eventsOf(textOf(entries.slice(-1), run, whole.length - 2))
  expect(rest).toMatchObject([{ type: 'response.failed' }])
  expect(rest[0]?.sequence_number).toBeGreaterThan(whole.length)
  const never = played({ calls: [], error: 'abort_error' }).entries.slice(-1)
  expect(eventsOf(textOf(never, run)).map(({ type }) => type)).toEqual([
    ...['response.created', 'response.in_progress', 'response.incomplete'],
  ])
})

test('a background run is queued first', () => {
  const background = { ...run, request: { ...kept, background: true } }
  const events = eventsOf(textOf(played({ calls: [[['text', 'A']]] }).entries, background))
  expect(events.slice(0, 3)).toMatchObject([
    { type: 'response.created', response: { status: 'queued' } },
    { type: 'response.queued' },
    { type: 'response.in_progress', response: { status: 'in_progress', output: [], usage: null } },
  ])
})

function chunksOf(kind: string, includesUsage = false): Record<string, unknown>[] {
  const addFrame = completionFrames(run, includesUsage)
  const into: (string | Buffer)[] = []
  for (const entry of played(kinds[kind] ?? { calls: [] }).entries) addFrame(into, entry, [])
  const frames = into.join('').split('\n\n').filter(Boolean)
  expect(frames.every((each) => /^data: [^\n]+$/.test(each))).toBe(true)
  return frames.map((each) =>
    each === 'data: [DONE]' ? { done: true } : (JSON.parse(each.slice(6)) as object),
  ) as never
}

test('chunks: the role first, texts, a finish reason, the usage if it is wanted, and the end', () => {
  const chunks = chunksOf('two model calls with a tool of the server between', true)
  expect(chunks).toMatchObject([
    {
      object: 'chat.completion.chunk',
      usage: null,
      choices: [{ index: 0, delta: { role: 'assistant', content: '' } }],
    },
    { choices: [{ index: 0, delta: { content: 'One' }, finish_reason: null }] },
    { choices: [{ delta: { content: '\n\n' } }] },
    { choices: [{ delta: { content: 'Two' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], stet: { promptPath: 'support/reply' } },
    {
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 3 } },
    },
    { done: true },
  ])
  expect(chunksOf('text')[1]).not.toHaveProperty('usage')
})

test('chunks: calls have an id once and their place always; reasoning has its own key', () => {
  const calls = chunksOf('text, call, text, call').flatMap(({ choices = [] }) => {
    const [choice] = choices as { delta: { tool_calls?: unknown[] } }[]
    return choice?.delta.tool_calls ?? []
  })
  expect(calls).toEqual([
    { index: 0, id: 'call_0_1', type: 'function', function: { name: 'search', arguments: '' } },
    { index: 0, function: { arguments: '{"q":1}' } },
    { index: 1, id: 'call_0_3', type: 'function', function: { name: 'search', arguments: '' } },
    { index: 1, function: { arguments: '{"q":3}' } },
  ])
  expect(chunksOf('reasoning and text')[1]).toMatchObject({ choices: [{ delta: { reasoning_content: 'Hm' } }] })
})

test('chunks: a failure is the last one, with texts as param and code, and without an end', () => {
  const chunks = chunksOf('failed')
  expect(chunks.at(-1)).toEqual({
    error: { message: 'It failed', type: 'server_error', param: '', code: 'ai_run_error' },
  })
})

test('what is kept of a request fits into 64 KB', () => {
  const tools = [{ type: 'function', name: 'a', parameters: { text: 'x'.repeat(70_000) } }]
  expect(readKept(keptText({ hasSteps: false, request: { ...kept, tools } })).request).toEqual({ ...kept, tools: [] })
  expect(readKept(keptText({ hasSteps: false, request: { ...kept, tools } })).toolNames).toEqual(['a'])
  const long = { ...kept, tools, instructions: 'é'.repeat(70_000) }
  expect(readKept(keptText({ hasSteps: true, request: long }))).toMatchObject({
    hasSteps: true,
    request: { instructions: null },
  })
})

test('ids lead back to the run and to the item', () => {
  const digits = runUuid.replaceAll('-', '')
  expect(runOfResponse(`resp_${digits}`)).toBe(runUuid)
  expect(runOfResponse(`resp_${digits}0`)).toBe(undefined)
  expect(placeOfItem(`fc_${digits}_3`)).toEqual({ runUuid, index: 3 })
  expect(placeOfItem(`xx_${digits}_3`)).toBe(undefined)
})

test('characters that some clients take for the end of a line are escaped', () => {
  const { entries } = played({ calls: [[['text', 'a\u2028b\u0085c']]] })
  const into: (string | Buffer)[] = []
  const addFrame = completionFrames(run, false)
  for (const entry of entries) addFrame(into, entry, [])
  for (const text of [into.join(''), textOf(entries, run)]) {
    expect(text).toContain('a\\u2028b\\u0085c')
    expect(text).not.toMatch(/[\u0085\u2028\u2029]/)
  }
})
