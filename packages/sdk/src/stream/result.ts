import { RunError } from '../errors.ts'
import type { OutputKind } from '../registry.ts'
import type { Answer } from '../transport/exchange.ts'
import { factsOf } from '../transport/response-error.ts'
import type { AnyRunResponse, Message, RunResult } from '../types.ts'
import type { LatitudeEventData, StreamEvent } from './events.ts'

/** The state of a run while its events arrive. */
export interface Progress {
  conversationUuid: string | undefined
  /** The text of the current step. */
  text: string
  conversation: Message[]
  /** The response of the last complete step. */
  response: AnyRunResponse | undefined
}

/** The terminal event of a successful run. */
export type Completed = Extract<LatitudeEventData, { type: 'chain-completed' }>
/** The terminal event of a failed run. */
export type Failed = Extract<LatitudeEventData, { type: 'chain-error' }>

/** Processes one more event. */
export function advance(progress: Progress, event: StreamEvent): void {
  if (event.event === 'provider-event') {
    if (event.data.type === 'text-delta') progress.text += event.data.textDelta
    return
  }
  const { data } = event
  progress.conversation = data.messages ?? progress.conversation
  if (data.type === 'step-started') {
    progress.text = ''
    progress.response = undefined
  } else if (data.type === 'provider-completed') {
    // Merged or missing deltas do not matter, because the answer itself is complete.
    progress.text = data.response.text
    progress.response = data.response
  }
}

/** The result of a completed run, in its JSON form; undefined without any response. */
export function resultOf<O extends OutputKind>(data: Completed, progress: Progress): RunResult<O> | undefined {
  const response = data.response ?? progress.response
  if (!response) return undefined
  return {
    uuid: data.uuid,
    conversation: data.messages,
    // The caller declares the type. The service has validated the answer against the prompt's schema.
    response: response as RunResult<O>['response'],
    toolRequests: data.toolRequests ?? [],
    source: data.source,
    tokenUsage: data.tokenUsage,
    cost: data.cost,
  }
}

/** The error of a run that ended in `chain-error`, the same as in its JSON form. */
export function runErrorOf(
  { error, messages: conversation }: Failed,
  { conversationUuid, text }: Progress,
  head: Answer,
): RunError {
  const { details = {} } = error
  return new RunError({
    ...factsOf(head),
    status: 422,
    errorCode: error.code ?? details.errorCode ?? error.errorCode ?? 'unknown_error',
    message: error.message,
    prompt: head.prompt,
    details,
    serverResponse: JSON.stringify(error),
    conversationUuid,
    partial: { text, conversation },
  })
}
