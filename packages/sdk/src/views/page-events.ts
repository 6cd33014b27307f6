import type { AnyRunResponse, Exposed, ForwardOptions, StreamEvent } from '../events.ts'
import { usageKeys } from '../tools/spent.ts'
import type { ToolCall, Usage } from '../types.ts'

type May = (part: Exposed) => boolean
type Chain<T> = Omit<Of<'chain-started'>, 'type'> & { type: T }
type Of<T extends StreamEvent['type']> = Extract<StreamEvent['data'], { type: T }>

const FAILED = 'The run failed'

/**
 * Returns the part of an event that a page may see, or undefined if the whole event is hidden. Unless `expose` is true,
 * copies only the keys that are listed in this file, so new keys and event types of a newer server stay hidden.
 */
export function pageEvent(event: StreamEvent, { expose = [] }: ForwardOptions = {}): StreamEvent | undefined {
  if (expose === true) return event
  // The type comes from the wire, so an inherited key such as `constructor` must not match.
  if (!Object.hasOwn(VIEWS, event.type)) return undefined
  const view = VIEWS[event.type] as (data: StreamEvent['data'], may: May) => StreamEvent['data'] | undefined
  const data = view(event.data, (part) => expose.includes(part))
  return data && ({ ...event, data } as StreamEvent)
}

/** Copies only the token counts that `Usage` declares. */
export function figures(usage: Usage): Usage {
  return pick(usage, usageKeys)
}

/** The visible keys of each event type. Every event type must be listed; otherwise this file does not compile. */
const VIEWS: { [T in StreamEvent['type']]: (data: Of<T>, may: May) => Of<T> | undefined } = {
  'chain-started': chain,
  'step-started': chain,
  'step-completed': chain,
  'provider-started': (data, may) => ({ ...chain(data, may), config: may('config') ? data.config : {} }),
  'provider-completed': (data, may) => ({ ...chain(data, may), response: answer(data.response, may), ...ended(data) }),
  'tools-requested': (data, may) => ({ ...chain(data, may), tools: calls(data.tools, may) }),
  'chain-completed': (data, may) => ({
    ...chain(data, may),
    ...(data.response && { response: answer(data.response, may) }),
    toolCalls: calls(data.toolCalls, may),
    toolRequests: calls(data.toolRequests, may),
    ...ended(data),
    cost: data.cost,
  }),
  'chain-error': (data, may) => {
    const { details, message } = data.error
    const told = may('errors') ? { message, details } : { message: FAILED, details: pick(details, ['errorCode']) }
    const error = { ...pick(data.error, ['name', 'errorCode', 'code']), ...told }
    return { ...chain(data, may), error, tokenUsage: figures(data.tokenUsage), cost: data.cost }
  },
  'start-step': (data) => pick(data, ['type', 'step']),
  'text-delta': (data) => pick(data, ['type', 'id', 'textDelta']),
  'reasoning-delta': (data) => pick(data, ['type', 'id', 'text']),
  'tool-input-start': (data) => pick(data, ['type', 'id', 'toolName']),
  'tool-input-delta': (data, may) => (may('tools') ? pick(data, ['type', 'id', 'delta']) : undefined),
  'tool-call': (data, may) => ({
    ...pick(data, ['type', 'toolCallId', 'toolName']),
    args: may('tools') ? data.args : {},
    _sourceData: pick(data._sourceData, ['source']),
  }),
  'tool-result': (data, may) => ({
    ...pick(data, ['type', 'toolCallId', 'toolName', 'isError']),
    ...(may('tools') ? pick(data, ['args', 'result']) : { args: {}, result: null }),
  }),
  'tool-error': (data, may) => ({
    ...pick(data, ['type', 'toolCallId', 'toolName']),
    ...(may('tools') ? pick(data, ['args', 'error']) : { args: {}, error: '' }),
  }),
  source: (data) => ({ type: data.type, ...pick(data, ['sourceType', 'id', 'url', 'title']) }),
  file: (data) => pick(data, ['type', 'url', 'mimeType']),
  'finish-step': (data) => ({ ...pick(data, ['type', 'finishReason']), usage: figures(data.usage) }),
  finish: (data) => ({ ...pick(data, ['type', 'finishReason']), usage: figures(data.usage) }),
  error: (data, may) => ({
    type: data.type,
    error: may('errors') ? pick(data.error, ['message']) : { message: FAILED },
  }),
}

function chain<T extends string>({ type, timestamp, uuid, messages, source }: Chain<T>, may: May): Chain<T> {
  return {
    type,
    timestamp,
    uuid,
    messages: may('messages') ? messages : [],
    providerLogUuid: '',
    source: may('ids') ? pick(source, ['documentUuid', 'commitUuid']) : { documentUuid: '', commitUuid: '' },
  }
}

function ended({ tokenUsage, finishReason }: Pick<Of<'chain-completed'>, 'tokenUsage' | 'finishReason'>) {
  return { tokenUsage: figures(tokenUsage), finishReason }
}

function answer(response: AnyRunResponse, may: May): AnyRunResponse {
  const { model, provider, input, output } = response
  const shown = {
    ...pick(response, ['streamType', 'text', 'object', 'reasoning', 'cost', 'finishReason', 'documentLogUuid']),
    usage: figures(response.usage),
    toolCalls: calls(response.toolCalls, may),
    ...(may('config') ? { model, provider } : { model: '', provider: '' }),
    ...(may('messages') ? { input, output } : { input: [], output: [] }),
  }
  // The copy keeps `streamType` and `object` together, so the cast is safe.
  return shown as AnyRunResponse
}

function calls(given: readonly ToolCall[], may: May): ToolCall[] {
  return (given ?? []).map((call) => ({ ...pick(call, ['id', 'name']), arguments: may('tools') ? call.arguments : {} }))
}

/** The value comes from the wire, so any key may be missing. */
function pick<T extends object, K extends keyof T>(value: T, keys: readonly K[]): Pick<T, K> {
  const found = keys.filter((key) => value?.[key] !== undefined).map((key) => [key, value[key]])
  return Object.fromEntries(found) as Pick<T, K>
}
