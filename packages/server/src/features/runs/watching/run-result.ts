/** What an ended run answers to who waited for it, whether it was driven here or is read from its row. */
import { RunError } from '../../../shared/app-error.ts'
import type { Usage } from '../../providers/usage.ts'
import type { Message, ToolCall } from '../../templates/message.ts'
import { resolveSlice } from '../encoding/message-list.ts'
import type { StoredConversation, StoredRunResult } from '../ports.ts'
import type { RunResult, RunSource, StepResponse } from '../run.ts'

interface Outcome {
  uuid: string
  source: RunSource
  messages: readonly Message[]
  response: StepResponse
  toolRequests: ToolCall[]
  tokenUsage: Usage
  cost: number
}

export function runResult({ uuid, source, messages, response, ...sums }: Outcome): RunResult {
  const { documentUuid, versionUuid } = source
  const { input, output, ...plain } = response
  const slices = { input: resolveSlice(input, messages), output: resolveSlice(output, messages) }
  return {
    uuid,
    conversation: [...messages],
    response: { ...plain, documentLogUuid: uuid, ...slices },
    toolRequests: sums.toolRequests,
    source: { documentUuid, versionUuid },
    tokenUsage: sums.tokenUsage,
    cost: sums.cost,
  }
}

/** The run's failure, naming its conversation. */
export function failureOf(conversationUuid: string, failure: Pick<RunError, 'code' | 'message' | 'details'>): RunError {
  const { code, message, details } = failure
  return new RunError(code, message, { details: { ...details, conversationUuid }, cause: failure })
}

/** @throws RunError of a run that failed. */
export function storedRunResult(conversation: StoredConversation, result: StoredRunResult): RunResult {
  const { uuid, messages } = conversation
  const { response, toolRequests, tokenUsage, cost, error } = result
  if (error) throw failureOf(uuid, error)
  if (!response) throw new RunError('unknown_error', 'The run left no response')
  return runResult({ uuid, source: conversation, messages, response, toolRequests, tokenUsage, cost })
}
