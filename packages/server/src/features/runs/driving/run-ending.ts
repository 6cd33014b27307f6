/** How a run ends: the terminal event, the row's end and the answer to who waits, all from one completion or failure. */
import { AppError, RunError } from '../../../shared/app-error.ts'
import type { RunCompletion } from '../execution/execute-run.ts'
import type { RunProgress } from '../execution/run-progress.ts'
import { latitude } from '../execution/run-step.ts'
import type { RunEnd, StoredRunResult } from '../ports.ts'
import type { RunSpending } from '../run.ts'
import type { ChainError, RunEvent } from '../run-event.ts'

export type Ending = { completion: RunCompletion } | { failure: RunError }

export function statusOf(ending: Ending): RunEnd['status'] {
  if ('completion' in ending) return 'completed'
  return ending.failure.code === 'abort_error' ? 'stopped' : 'error'
}

export function terminalEvent(ending: Ending, progress: RunProgress): RunEvent {
  const { tokenUsage, cost } = progress.spending
  if ('failure' in ending) {
    return latitude(progress, { type: 'chain-error', error: chainError(ending.failure), cost, tokenUsage })
  }
  const { response, toolRequests } = ending.completion
  const { toolCalls, finishReason } = response
  return latitude(progress, {
    type: 'chain-completed',
    response,
    toolCalls,
    finishReason,
    tokenUsage,
    cost,
    toolRequests,
  })
}

/** @param covers messages of the conversation at the end. */
export function storedResult(
  ending: Ending,
  spending: RunSpending,
  lastResponse: RunProgress['response'],
  completed: StoredRunResult['completed'],
  covers: number,
): StoredRunResult {
  if ('completion' in ending) return { ...ending.completion, ...spending, covers, ...(completed && { completed }) }
  const { code, message, details } = ending.failure
  return {
    ...(lastResponse && { response: lastResponse }),
    ...(completed && { completed }),
    toolRequests: [],
    ...spending,
    covers,
    error: { code, message, details },
  }
}

/** The end of a run that a caller stopped. */
export function stopped(): RunError {
  return new RunError('abort_error', 'The run was stopped', { details: { reason: 'stop' } })
}

function chainError({ code, message, details }: RunError): ChainError {
  return { name: 'DocumentRunError', message, errorCode: code, code, details: { ...details, errorCode: code } }
}

/** Failures that nobody foresaw keep their words to themselves: those of drivers quote statements and addresses. */
export function toRunFailure(failure: unknown): RunError {
  if (failure instanceof RunError) return failure
  const message = failure instanceof AppError ? failure.message : 'The run failed unexpectedly'
  return new RunError('unknown_error', message, { cause: failure })
}
