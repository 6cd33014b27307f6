import type { Message, OutputKind, RunResult, StreamEvent } from '../index.ts'

/** The parts of a generated run. */
export interface EventsOptions {
  /** The conversation's uuid. */
  uuid?: string
  /** Any JSON value as the structured response. An empty text is replaced by the JSON of this value. */
  object?: OutputKind
  /** Makes the run fail after its text. `code` is a run code such as `ai_run_error`. */
  error?: { code: string; message: string; details?: Record<string, unknown> }
}

type Data = { type: string; [key: string]: unknown }

const ID = '00000000-0000-4000-8000-000000000000'
const USAGE = {
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedInputTokens: 0,
}

/**
 * Returns the events of a run with this response, in the server's order and format. A list sets the text deltas.
 *
 * @example sseResponse(events(['Hel', 'lo'], { error: { code: 'ai_run_error', message: 'The model failed' } }))
 */
export function events(text: string | readonly string[], o: EventsOptions = {}): StreamEvent[] {
  const given = typeof text === 'string' ? [text] : text
  const deltas = o.object !== undefined && given.join('') === '' ? [JSON.stringify(o.object)] : given
  const result = madeResult({
    uuid: o.uuid ?? ID,
    text: deltas.join(''),
    ...(o.object !== undefined && { object: o.object }),
  })
  return eventsOf(result, deltas, o.error)
}

export function madeResult({
  uuid = ID,
  ...given
}: Partial<RunResult> & { text?: string; object?: OutputKind }): RunResult {
  const { response, object = response?.object, ...others } = given
  const { text = response?.text ?? (object === undefined ? '' : JSON.stringify(object)), ...rest } = others
  const message: Message = { role: 'assistant', content: [{ type: 'text', text }] }
  return {
    uuid,
    conversation: [message],
    toolRequests: [],
    source: { documentUuid: ID, commitUuid: ID },
    tokenUsage: USAGE,
    cost: 0,
    ...rest,
    response: {
      ...(object === undefined ? { streamType: 'text' } : { streamType: 'object', object }),
      text,
      usage: USAGE,
      toolCalls: [],
      cost: 0,
      model: 'mock',
      provider: 'custom',
      finishReason: 'stop',
      documentLogUuid: uuid,
      input: [],
      output: [message],
      ...response,
    } as RunResult['response'],
  }
}

export function eventsOf(result: RunResult, deltas: readonly string[], error?: EventsOptions['error']): StreamEvent[] {
  const { uuid, source, conversation, response, tokenUsage, cost, toolRequests } = result
  const { finishReason } = response
  const chain = (type: string, extra: object = {}, messages: Message[] = conversation): Data => {
    return { type, timestamp: 0, uuid, messages, providerLogUuid: '', source, ...extra }
  }
  const before = conversation.slice(0, -1)
  const { code, message = '', details } = error ?? {}
  const failure = { name: 'DocumentRunError', message, errorCode: code, code, details: { errorCode: code, ...details } }
  const ended = { response, tokenUsage, finishReason }
  const end = error
    ? [chain('chain-error', { error: failure, tokenUsage, cost })]
    : [
        { type: 'finish', finishReason, usage: response.usage },
        chain('provider-completed', ended),
        chain('step-completed'),
        chain('chain-completed', { ...ended, toolCalls: response.toolCalls, toolRequests, cost }),
      ]
  const all: Data[] = [
    chain('chain-started', {}, []),
    chain('step-started', {}, before),
    chain('provider-started', { config: {} }, before),
    { type: 'start-step', step: 1 },
    ...deltas.map((textDelta) => ({ type: 'text-delta', id: 'txt-0', textDelta })),
    ...end,
  ]
  return all.map((data, index) => {
    const event = 'messages' in data ? 'latitude-event' : 'provider-event'
    // TypeScript cannot follow the event union through the list of payloads.
    return { id: String(index + 1), event, type: data.type, data } as StreamEvent
  })
}
