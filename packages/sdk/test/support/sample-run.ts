import type { FinishReason, Message, RunResult, Usage } from '../../src/index.ts'

export const UUID = '3f0c5a3e-6f0e-4a53-9d3c-0a1b2c3d4e5f'
export const SOURCE = {
  documentUuid: '7d1f0d3c-1111-4222-8333-444455556666',
  commitUuid: '0a0b0c0d-1111-4222-8333-444455556666',
}
export const USAGE: Usage = {
  promptTokens: 3,
  completionTokens: 2,
  totalTokens: 5,
  inputTokens: 3,
  outputTokens: 2,
  reasoningTokens: 0,
  cachedInputTokens: 0,
}

const said = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] })
const asked: Message = { role: 'user', content: [{ type: 'text', text: 'Grüß mich 👋' }] }

export function response(text: string, object?: Record<string, unknown>): RunResult['response'] {
  return {
    ...(object ? { streamType: 'object', object } : { streamType: 'text' }),
    text,
    usage: USAGE,
    toolCalls: [],
    cost: 0.5,
    model: 'words',
    provider: 'custom',
    finishReason: 'stop',
    documentLogUuid: UUID,
    input: [asked],
    output: [said(text)],
  } as RunResult['response']
}

export function result(text: string): RunResult {
  return {
    uuid: UUID,
    conversation: [asked, said(text)],
    response: response(text),
    toolRequests: [],
    source: SOURCE,
    tokenUsage: USAGE,
    cost: 0.5,
  }
}

type Payload = Record<string, unknown> & { type: string }

function chain(type: string, messages: Message[], extra: object = {}): Payload {
  return { type, timestamp: 1767322800123, uuid: UUID, messages, providerLogUuid: '', source: SOURCE, ...extra }
}

const finishReason: FinishReason = 'stop'

export function runEvents(deltas: string[], o: { object?: Record<string, unknown> } = {}): [string, Payload][] {
  const text = deltas.join('')
  const answer = response(text, o.object)
  const conversation = [asked, said(text)]
  const ended = { response: answer, tokenUsage: USAGE, finishReason }
  return [
    ['latitude-event', chain('chain-started', [])],
    ['latitude-event', chain('step-started', [asked])],
    ['latitude-event', chain('provider-started', [asked], { config: { model: 'words' } })],
    ['provider-event', { type: 'start-step', step: 1 }],
    ...deltas.map((textDelta): [string, Payload] => ['provider-event', { type: 'text-delta', id: 'txt-0', textDelta }]),
    ['provider-event', { type: 'finish', finishReason, usage: USAGE }],
    ['latitude-event', chain('provider-completed', conversation, ended)],
    ['latitude-event', chain('step-completed', conversation)],
    [
      'latitude-event',
      chain('chain-completed', conversation, { ...ended, toolCalls: [], toolRequests: [], cost: 0.5 }),
    ],
  ]
}

export function failedRunEvents(deltas: string[], code = 'ai_run_error'): [string, Payload][] {
  const error = {
    name: 'DocumentRunError',
    message: 'The provider refused',
    errorCode: code,
    code,
    details: { errorCode: code },
  }
  return [
    ...runEvents(deltas).slice(0, 4 + deltas.length),
    ['latitude-event', chain('chain-error', [asked, said(deltas.join(''))], { error, tokenUsage: USAGE, cost: 0 })],
  ]
}

export function frames(events: readonly [string, Payload][], firstId = 1): string {
  return events.map(([event, data], i) => frame(event, data, i + firstId)).join('')
}

export function frame(event: string, data: unknown, id: number): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\nid: ${id}\n\n`
}
