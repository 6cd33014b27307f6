/** Kinds of runs, each with the columns that its row must have. The fake provider reports 12 and 8 tokens for an answer. */
import { expect } from 'vitest'
import { RunError } from '../../src/shared/app-error.ts'
import type { FakeReplyFor } from '../support/fake-provider.ts'
import { prompt, type RunBench } from './run-bench.ts'

export const kindPrompts = {
  plain: prompt('<user>Say it</user>'),
  greet: prompt('Be terse.\n<user>Greet {{ name }}</user>', 'maxRetries: 0\n'),
  asks: prompt('<user>Ask</user>', 'maxRetries: 0\ntools: { ask: { description: Asks } }\n'),
  lead: prompt('<user>Lead</user>', 'agents: [plain]\n'),
  broken: prompt('<user>{{ name.first.letter }}</user>'),
}

export interface RunKind {
  replies?: readonly FakeReplyFor[]
  /** Plays the run to its end. Returns the uuid of its conversation. */
  play: () => Promise<unknown>
  row: Record<string, unknown>
  /** The text that arrived of a call that did not end. Its tokens are estimated. */
  partialText?: string
}

const half = 'The order left our warehouse on Monday and should arrive at your door before the end of this week. '
const text = half.repeat(2)
/** Models count about four tokens for three words of English. */
export const tokensOf = (english: string) => (english.trim().split(/\s+/).length * 4) / 3

const call = { toolCalls: [{ id: 'a', name: 'ask', arguments: {} }] }
const answered = { input_tokens: 12, output_tokens: 8, usage_estimated: false }
const completed = { ...answered, status: 'completed', finish_reason: 'stop', error_code: null, model: 'gpt-4o' }
const stopped = { status: 'stopped', error_code: 'abort_error', model: 'gpt-4o' }
const failed = { status: 'error', model: 'gpt-4o' }
const nothing = { input_tokens: 0, output_tokens: 0, usage_estimated: false, finish_reason: null }

export function runKinds(bench: RunBench): Record<string, RunKind> {
  const inputs = { parameters: { name: 'Ada' } }
  const stream = (path: string) => async () => {
    const response = await bench.open(path, path === 'asks' ? { tools: ['ask'] } : inputs)
    const uuid = response.headers.get('x-conversation-uuid') ?? ''
    const reader = response.body?.getReader()
    let seen = ''
    /** Reads the events until they have `mark`. */
    const until = async (mark: string) => {
      while (!seen.includes(mark)) {
        const { value, done } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error(`The stream has ended without ${mark}: ${seen.slice(-500)}`)
        seen += Buffer.from(value ?? []).toString()
      }
      return seen
    }
    return { uuid, until }
  }
  /** A streamed run that `end` ends once its events have `mark`. */
  const cut = (mark: string, end: (uuid: string) => unknown) => async () => {
    const calls = bench.fake.requests.length
    const { uuid, until } = await stream('greet')()
    await bench.fake.waitForRequest(calls + 1)
    await until(mark)
    await end(uuid)
    await until('"chain-error"')
    return uuid
  }
  /** A streamed run with a tool of the caller. @param end ends it before the tool is answered */
  const ask = (last: string, end?: (uuid: string) => unknown) => async () => {
    const { uuid, until } = await stream('asks')()
    const [, toolCallId] = /"toolCallId":"([^"]+)"/.exec(await until('"type":"tool-call"')) ?? []
    if (end) await end(uuid)
    else await bench.api('POST', '/tools/results', { body: { toolCallId, result: 'yes' } })
    await until(last)
    return uuid
  }
  const stop = (uuid: string) => bench.stop(uuid)
  const abort = (code: 'run_timeout_error' | 'worker_lost') => (uuid: string) =>
    bench.server.deps.runs.active
      .list()
      .find(({ conversationUuid }) => conversationUuid === uuid)
      ?.abort(new RunError(code, 'x', { details: { seconds: 1 } }))
  const failedOf = async (path: string) => {
    const { body } = await bench.run(path, inputs)
    return (body as { details?: { conversationUuid?: string } }).details?.conversationUuid
  }
  const hanging = { deltas: [half, half], hang: 'mid-stream' } as const
  return {
    json: {
      play: async () => (await bench.run('greet', inputs)).body['uuid'],
      row: { ...completed, mode: 'json', first_token_ms: null },
    },
    sse: {
      play: async () => (await bench.stream('greet', inputs)).last['uuid'],
      row: { ...completed, mode: 'sse', first_token_ms: expect.any(Number) },
    },
    background: {
      play: async () => {
        const uuid = await bench.background('greet', inputs)
        await bench.attach(uuid)
        return uuid
      },
      row: { ...completed, mode: 'background', first_token_ms: expect.any(Number) },
    },
    chat: {
      play: async () => {
        const { uuid } = (await bench.run('greet', inputs)).body
        await bench.chat(uuid, { messages: [{ role: 'user', content: 'and wave' }] })
        return uuid
      },
      row: { ...completed, mode: 'json', parameters_state: 'none', given_count: 1 },
    },
    'a tool of the caller': {
      replies: [call, { text: 'Done' }],
      play: ask('chain-completed'),
      row: { ...completed, mode: 'sse', input_tokens: 24, output_tokens: 16 },
    },
    'an agent': {
      replies: [
        { toolCalls: [{ id: 'a', name: 'lat_agent_plain', arguments: {} }] },
        { text: 'Found' },
        { text: 'Done' },
      ],
      play: async () => (await bench.stream('lead')).last['uuid'],
      row: { ...completed, mode: 'sse', input_tokens: 36, output_tokens: 24 },
    },
    'stopped before an answer': {
      replies: [{ text, hang: 'before-head' }],
      play: cut('provider-started', stop),
      row: { ...stopped, ...nothing },
    },
    'stopped before its first text': {
      replies: [{ text, hang: 'after-head' }],
      play: cut('provider-started', stop),
      row: { ...stopped, output_tokens: 0, finish_reason: null },
    },
    'stopped in its text': {
      replies: [hanging],
      play: cut('this week', stop),
      row: { ...stopped, finish_reason: null },
      partialText: half,
    },
    'stopped while it waits for a tool': {
      replies: [call],
      play: ask('"chain-error"', stop),
      row: { ...stopped, ...answered },
    },
    'stopped in its second call': {
      replies: [call, hanging],
      play: async () => {
        const { uuid, until } = await stream('asks')()
        const [, toolCallId] = /"toolCallId":"([^"]+)"/.exec(await until('"type":"tool-call"')) ?? []
        await bench.api('POST', '/tools/results', { body: { toolCallId, result: 'yes' } })
        await until('this week')
        await stop(uuid)
        await until('"chain-error"')
        return uuid
      },
      row: { ...stopped, usage_estimated: true },
    },
    'refused by its provider': {
      replies: [{ status: 429 }],
      play: () => failedOf('greet'),
      row: { ...failed, ...nothing, error_code: 'rate_limit_error' },
    },
    'lost before an answer': {
      replies: [{ reset: true }],
      play: () => failedOf('greet'),
      row: { ...failed, ...nothing, error_code: 'ai_run_error' },
    },
    'lost in its text': {
      replies: [{ deltas: [half, half], cut: 1 }],
      play: async () => (await bench.stream('greet', inputs)).last['uuid'],
      row: { ...failed, finish_reason: null },
      partialText: half,
    },
    'an answer without an end': {
      replies: [{ deltas: [half, half], noEndMark: true }],
      play: async () => (await bench.stream('greet', inputs)).last['uuid'],
      row: { ...failed },
      partialText: text,
    },
    'refused in its second call': {
      replies: [call, { status: 401, body: { error: { message: 'Incorrect API key provided' } } }],
      play: ask('"chain-error"'),
      row: { ...failed, ...answered, error_code: 'ai_run_error' },
    },
    'does not compile': {
      play: () => failedOf('broken'),
      row: { ...nothing, status: 'error', model: null, error_code: 'chain_compile_error' },
    },
    'out of time': {
      replies: [hanging],
      play: cut('this week', abort('run_timeout_error')),
      row: { ...failed, error_code: 'run_timeout_error', finish_reason: null },
      partialText: half,
    },
    'of a server that stops': {
      replies: [hanging],
      play: cut('this week', abort('worker_lost')),
      row: { ...failed, error_code: 'worker_lost', finish_reason: null },
      partialText: half,
    },
  }
}
