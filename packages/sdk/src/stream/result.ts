import { RunError } from '../errors.ts'
import type { OutputKind } from '../registry.ts'
import type { Answer } from '../transport/exchange.ts'
import { factsOf } from '../transport/response-error.ts'
import type { AnyRunResponse, ContentPart, Message, RunResult, ToolCall, Usage } from '../types.ts'
import type { LatitudeEventData, StreamEvent } from './events.ts'

/** What is known of a run while its events arrive. */
export interface Progress {
  conversationUuid: string | undefined
  /** The text of the current step. */
  text: string
  conversation: Message[]
  /** That of the last complete step. */
  response: AnyRunResponse | undefined
}

/** The event that ends a run well. */
export type Completed = Extract<LatitudeEventData, { type: 'chain-completed' }>
type Failed = Extract<LatitudeEventData, { type: 'chain-error' }>

/** The progress after one more event; the first argument stays as it is. */
export function advance(progress: Progress, event: StreamEvent): Progress {
  if (event.event === 'provider-event') {
    return event.data.type === 'text-delta' ? { ...progress, text: progress.text + event.data.textDelta } : progress
  }
  const { data } = event
  const known: Progress = {
    ...progress,
    conversationUuid: data.uuid ?? progress.conversationUuid,
    conversation: data.messages ?? progress.conversation,
  }
  if (data.type === 'step-started') return { ...known, text: '', response: undefined }
  // merged or missing deltas do not matter: the answer itself is complete
  if (data.type === 'provider-completed') return { ...known, text: data.response.text, response: data.response }
  return known
}

/** What a turn cost. */
export type Spent = Pick<RunResult, 'tokenUsage' | 'cost'>

/**
 * The result of a completed run, in the form of the JSON answer; undefined when no answer ever came. What the turns
 * before it cost is added to its sums.
 */
export function resultOf<O extends OutputKind>(
  data: Completed,
  progress: Progress,
  earlier: readonly Spent[],
): RunResult<O> | undefined {
  const response = data.response ?? progress.response
  if (!response) return undefined
  return {
    uuid: data.uuid,
    conversation: progress.conversation,
    // the schema of the prompt is the caller's claim; the service has validated the answer against it
    response: response as RunResult<O>['response'],
    toolRequests: data.toolRequests ?? [],
    source: data.source,
    ...sumOf([...earlier, data]),
  }
}

/** The sums of several turns; of one, what it says. */
export function sumOf(turns: readonly Spent[]): Spent {
  return turns.reduce(
    (sum, { tokenUsage, cost }) => {
      const usage = { ...tokenUsage }
      for (const key of Object.keys(usage) as (keyof Usage)[]) usage[key] += sum.tokenUsage[key] ?? 0
      return { tokenUsage: usage, cost: sum.cost + cost }
    },
    { tokenUsage: {} as Usage, cost: 0 },
  )
}

/**
 * The result of a run that was stopped because a tool paused: its open calls wait for a chat. Undefined when it ended for
 * another reason.
 */
export function pausedResult<O extends OutputKind>(data: Failed, { text }: Progress): RunResult<O> | undefined {
  const { uuid, messages, source, tokenUsage, cost, error } = data
  if (error.code !== 'abort_error') return undefined
  const toolCalls = openCalls(messages)
  const response = { streamType: 'text', text, usage: tokenUsage, toolCalls, cost, finishReason: 'tool-calls' }
  return {
    uuid,
    conversation: messages,
    // a stopped run names no model: the calls are what this result is for
    response: { ...response, model: '', provider: '', documentLogUuid: uuid, input: messages, output: [] } as never,
    toolRequests: toolCalls,
    source,
    tokenUsage,
    cost,
  }
}

/** The tool calls that no message answers. */
function openCalls(messages: readonly Message[]): ToolCall[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const answered = new Set(parts.map((part) => part.type === 'tool-result' && part.toolCallId))
  return parts
    .filter(isCall)
    .flatMap(({ toolCallId: id, toolName: name, args }) => (answered.has(id) ? [] : [{ id, name, arguments: args }]))
}

function isCall(part: ContentPart): part is Extract<ContentPart, { type: 'tool-call' }> {
  return part.type === 'tool-call'
}

/** The error of a run that ended in `chain-error`: the same that the JSON form of the run gives. */
export function runErrorOf(
  { error }: Failed,
  { conversationUuid, text, conversation }: Progress,
  head: Answer,
): RunError {
  const { details = {} } = error
  return new RunError({
    ...factsOf(head),
    status: 422,
    errorCode: error.code ?? details.errorCode ?? error.errorCode ?? 'unknown_error',
    message: error.message,
    details,
    serverResponse: JSON.stringify(error),
    conversationUuid,
    partial: { text, conversation },
  })
}
