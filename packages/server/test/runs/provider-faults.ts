/** The ways in which a provider fails, each with the bytes that it sends in a protocol and the run's expected end. */

import { expect } from 'vitest'
import type { ApiAnswer } from '../http/api-call.ts'
import { anthropicWire } from '../support/fake-anthropic-wire.ts'
import type { FakeReply, FakeRequest } from '../support/fake-provider.ts'
import { chatWire, type FakeAnswer, type FakeWire } from '../support/fake-provider-wire.ts'
import { responsesWire } from '../support/fake-responses-wire.ts'
import type { Recording, RunBench } from './run-bench.ts'

export const modes = ['json', 'stream', 'background'] as const
export type Mode = (typeof modes)[number]

export interface EndedRun {
  uuid: string
  recording?: Recording
  answer?: ApiAnswer
}

export async function runIn(bench: RunBench, mode: Mode, path: string, body = {}): Promise<EndedRun> {
  if (mode === 'json') {
    const answer = await bench.run(path, body)
    return { uuid: answer.headers.get('x-conversation-uuid') ?? '', answer }
  }
  if (mode === 'background') return { uuid: await bench.background(path, body) }
  const recording = await bench.stream(path, body)
  return { uuid: String(recording.last['uuid']), recording }
}

/** The last word contains a two-byte character. */
export const said = 'one two drüben'
const before = 'one two'
const answer: FakeAnswer = { text: said }

export const wires: Readonly<Record<string, FakeWire>> = {
  OpenAI: chatWire,
  Anthropic: anthropicWire,
  Responses: responsesWire,
}

/** Creates the provider keys that the environment does not define. */
export async function storeProtocols({ api, fake }: Pick<RunBench, 'api' | 'fake'>): Promise<void> {
  for (const [name, provider, configuration] of [
    ['Anthropic', 'anthropic', {}],
    ['Responses', 'openai', { endpoint: 'responses' }],
  ] as const) {
    const body = { name, provider, token: 'sk-0123456789abcdef', url: fake.url, configuration }
    expect(await api('POST', '/provider-api-keys', { body })).toMatchObject({ status: 201 })
  }
}

export function wholeBytes(wire: FakeWire, { body }: Pick<FakeRequest, 'body'>): Buffer {
  const identity = { id: 'chatcmpl-fake', model: String(body['model']) }
  if (body['stream'] !== true) return Buffer.from(JSON.stringify(wire.plain(identity, answer)))
  return Buffer.from(
    wire.head(identity, answer) + wire.content(identity, answer).join('') + wire.end(identity, answer, true),
  )
}

export interface FaultCall {
  wire: FakeWire
  request: FakeRequest
  /** 1-based. */
  attempt: number
}

export interface ProviderFault {
  name: string
  reply(call: FaultCall): FakeReply
  /** The expected number of provider calls, including two retries. */
  calls: number
  pauseMs?: number
  /** The expected error code. Undefined if the run still completes. */
  code?: string
  details?: Record<string, unknown>
  /** The part of a streamed answer that remains in the conversation. */
  text?: string
  /** No response with a success status starts, so the call counts no tokens. */
  isUnanswered?: true
  /** Only the model call's time limits end it. */
  hangs?: true
}

const isStream = ({ request }: FaultCall): boolean => request.body['stream'] === true
const headersOf = (call: FaultCall) => ({
  'content-type': isStream(call) ? 'text/event-stream; charset=utf-8' : 'application/json',
})
/** The bytes before the last word, and `more` bytes of it. */
const upToLastWord = ({ wire, request }: FaultCall, more: number): Buffer => {
  const bytes = wholeBytes(wire, request)
  return bytes.subarray(0, bytes.indexOf('drüben') + more)
}
const broken = { code: 'ai_run_error', calls: 1 } as const

export const providerFaults: readonly ProviderFault[] = [
  {
    ...broken,
    name: '401',
    isUnanswered: true,
    reply: () => ({ status: 401, body: { error: { message: 'no such key' } } }),
    details: { status: 401, providerMessage: 'no such key' },
  },
  {
    name: '429, each with a Retry-After',
    isUnanswered: true,
    reply: () => ({ status: 429, headers: { 'retry-after': '1' } }),
    calls: 3,
    pauseMs: 1_000,
    code: 'rate_limit_error',
    details: { status: 429, retryAfter: 1 },
  },
  {
    name: '429 with a Retry-After of more than a minute',
    isUnanswered: true,
    reply: () => ({ status: 429, headers: { 'retry-after': '61' } }),
    calls: 1,
    code: 'rate_limit_error',
    details: { retryAfter: 61 },
  },
  {
    name: '429 once',
    reply: ({ attempt }) => (attempt === 1 ? { status: 429, headers: { 'retry-after': '1' } } : answer),
    calls: 2,
    pauseMs: 1_000,
  },
  { ...broken, name: '500', isUnanswered: true, reply: () => ({ status: 500 }), calls: 3, details: { status: 500 } },
  { ...broken, name: 'reset before the first byte', isUnanswered: true, reply: () => ({ reset: true }), calls: 3 },
  {
    ...broken,
    name: 'connection broken in the middle',
    reply: (call) => ({ raw: [upToLastWord(call, 0)], headers: headersOf(call), end: 'broken' }),
    text: before,
  },
  { ...broken, name: 'hang before the head', isUnanswered: true, reply: () => ({ hang: 'before-head' }), hangs: true },
  {
    ...broken,
    name: 'hang in the middle',
    reply: (call) => ({ raw: [upToLastWord(call, 0)], headers: headersOf(call), end: 'never' }),
    text: before,
    hangs: true,
  },
  { ...broken, name: 'garbage', reply: () => ({ garbage: true }) },
  {
    ...broken,
    name: 'cut UTF-8',
    reply: (call) => ({ raw: [upToLastWord(call, 3)], headers: headersOf(call) }),
    text: before,
  },
  {
    ...broken,
    name: 'no end mark',
    reply: (call) => {
      if (isStream(call)) return { ...answer, noEndMark: true }
      const bytes = wholeBytes(call.wire, call.request)
      // Only its length marks the end of a single body.
      return {
        raw: [bytes],
        headers: { ...headersOf(call), 'content-length': String(bytes.length + 1) },
        end: 'broken',
      }
    },
    text: said,
  },
  {
    ...broken,
    name: 'huge chunk',
    reply: (call) => ({
      raw: isStream(call) ? [upToLastWord(call, 0), 'x'.repeat(4_300_000)] : ['{"x":"', 'x'.repeat(33_600_000), '"}'],
      headers: headersOf(call),
    }),
    text: before,
  },
  {
    ...broken,
    name: 'a page in place of an answer',
    reply: () => ({ raw: ['<!doctype html><title>Sign in</title>'], headers: { 'content-type': 'text/html' } }),
  },
  {
    name: 'an answer under a wrong content type',
    reply: ({ wire, request }) => ({ raw: [wholeBytes(wire, request)], headers: { 'content-type': 'text/plain' } }),
    calls: 1,
  },
  {
    name: 'one body in place of a stream',
    reply: ({ wire, request }) => ({
      raw: [wholeBytes(wire, { body: { ...request.body, stream: false } })],
      headers: { 'content-type': 'application/json' },
    }),
    calls: 1,
  },
  {
    name: 'slow drip',
    reply: (call) => {
      const bytes = wholeBytes(call.wire, call.request)
      const pieces = Array.from({ length: 60 }, (_, place) => bytes.subarray(...bounds(bytes.length, place, 60)))
      return { raw: pieces, headers: headersOf(call), delayMs: 10 }
    },
    calls: 1,
  },
]

function bounds(length: number, place: number, pieces: number): [start: number, end: number] {
  return [Math.floor((length * place) / pieces), Math.floor((length * (place + 1)) / pieces)]
}
