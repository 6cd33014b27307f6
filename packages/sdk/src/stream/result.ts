import { RunError } from '../errors.ts'
import type { AnyRunResponse, Completed, Failed, StreamEvent } from '../events.ts'
import type { OutputKind } from '../registry.ts'
import type { Answer } from '../transport/exchange.ts'
import { factsOf } from '../transport/response-error.ts'
import type { Message, RunResult } from '../types.ts'

export interface Progress {
  conversationUuid?: string
  lastEventId: string | undefined
  text: string
  conversation: Message[]
  response?: AnyRunResponse | undefined
}

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
    // The response has the full text, so merged or missing deltas do not matter.
    progress.text = data.response.text
    progress.response = data.response
  }
}

/** Returns the same result as a JSON run, or undefined if the run has no response. */
export function resultOf<O extends OutputKind>(data: Completed, progress: Progress): RunResult<O> | undefined {
  const response = data.response ?? progress.response
  if (!response) return undefined
  return {
    uuid: data.uuid,
    conversation: data.messages,
    // The prompt's schema determines this type. The server checks only that the response is JSON, not that it matches
    // the schema.
    response: response as RunResult<O>['response'],
    toolRequests: data.toolRequests ?? [],
    source: data.source,
    tokenUsage: data.tokenUsage,
    cost: data.cost,
  }
}

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
