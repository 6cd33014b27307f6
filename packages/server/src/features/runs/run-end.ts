/** The end of a run: its terminal event, its stored result, and its failures. Every run ends through `encodeEnd`. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, isUnavailable, RunError, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { createRunProgress, figuresOf, latitude, type RunCompletion, type RunProgress } from './events/run-progress.ts'
import type {
  EventCodec,
  LogEntry,
  RunEnd,
  StoredConversation,
  StoredLog,
  StoredRun,
  StoredRunResult,
} from './ports.ts'
import type { RunEvent } from './run.ts'

export type Ending = { completion: RunCompletion } | { failure: RunError }

/** A run up to its end. */
interface EndingRun extends Pick<RunEnd, 'epoch' | 'epochAfter' | 'from'> {
  conversation: StoredConversation
  runUuid: string
  progress: RunProgress
  /** The entries before the terminal event. */
  entries: StoredLog['entries']
  /** The id of the terminal event. */
  lastEventId: number
  completed?: StoredRunResult['completed'] | undefined
}

/** Encodes the end of a run, so that its row, its event log and its readers get the same one. */
export async function encodeEnd(
  { clock }: Needs<'clock'>,
  { conversation, runUuid, progress, entries, completed, ...place }: EndingRun,
  ending: Ending,
): Promise<{ end: RunEnd; terminal: LogEntry }> {
  const { codec, encoded } = progress
  const endedAt = clock.now()
  const terminal = codec.encodeEvent(terminalEvent(ending, progress), place.lastEventId, endedAt, conversation)
  const messages = [...progress.messages]
  const result: StoredRunResult = {
    ...(progress.answer && { response: progress.answer.response }),
    toolRequests: [],
    ...progress.spending,
    covers: messages.length,
    ...(completed && { completed }),
  }
  let status: RunEnd['status'] = 'completed'
  if ('completion' in ending) {
    result.response = ending.completion.answer.response
    result.toolRequests = ending.completion.toolRequests
  } else {
    const { code, message, details } = ending.failure
    result.error = { code, message, details }
    status = code === 'abort_error' ? 'stopped' : 'error'
  }
  const eventLog = await codec.packEventLog({ messages: encoded, entries: [...entries, terminal] })
  const ids = { workspaceId: conversation.workspaceId, runUuid, conversationUuid: conversation.uuid }
  const createdAt = conversation.latestRun?.createdAt ?? endedAt
  const figures = figuresOf(progress.facts, createdAt, { status: status === 'completed' ? 'ok' : status, at: endedAt })
  return { end: { ...ids, ...place, status, messages, result, eventLog, figures, endedAt }, terminal }
}

function terminalEvent(ending: Ending, progress: RunProgress): RunEvent {
  const { tokenUsage, cost } = progress.spending
  if ('failure' in ending) {
    return latitude(progress, { type: 'chain-error', error: ending.failure, cost, tokenUsage })
  }
  const { answer: response, toolRequests } = ending.completion
  const { toolCalls, finishReason } = response.response
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

/** Rebuilds provider-completed (if any) and the terminal event from the run's row, with their original ids. */
export function endOfRun(
  codec: EventCodec,
  conversation: StoredConversation,
  run: StoredRun,
  result: StoredRunResult,
): StoredLog {
  const { response, completed, toolRequests, error, covers: _covers, ...spending } = result
  const progress = createRunProgress(codec, conversation.messages)
  progress.spending = spending
  const answer = response && codec.encodeResponse(response, conversation.uuid)
  const at = run.endedAt ?? conversation.updatedAt
  const entries: LogEntry[] = []
  if (answer && completed) {
    const { usage: tokenUsage, finishReason } = answer.response
    const latitude = { type: 'provider-completed' as const, response: answer, tokenUsage, finishReason }
    entries.push(codec.encodeEvent({ latitude, covers: completed.covers }, completed.eventId, at, conversation))
  }
  const failure = new RunError(error?.code ?? 'unknown_error', error?.message ?? '', { details: error?.details ?? {} })
  const ending = answer && !error ? { completion: { answer, toolRequests } } : { failure }
  const lastId = run.lastEventId ?? run.firstEventId
  entries.push(codec.encodeEvent(terminalEvent(ending, progress), lastId, at, conversation))
  return { messages: progress.encoded, entries }
}

export function stopped(): RunError {
  return new RunError('abort_error', 'The run was stopped', { details: { reason: 'stop' } })
}

export function disconnected(): RunError {
  const message = 'Run canceled: the client disconnected'
  return new RunError('abort_error', message, { details: { reason: 'disconnect' } })
}

/** The failure of a run whose row or end could not be stored. */
export function notStored(): RunError {
  const { message, reason } = refuse('run-not-stored')
  return new RunError('unknown_error', message, { details: { reason } })
}

export function overdue(runTimeoutMs: number): RunError {
  const seconds = runTimeoutMs / 1000
  return new RunError('run_timeout_error', `The run took longer than ${seconds} seconds`, { details: { seconds } })
}

/** Hides the message of an unforeseen failure, because the message may quote SQL statements or addresses. */
export function runFailure(failure: unknown): RunError {
  if (failure instanceof RunError) return failure
  if (failure instanceof AppError && failure.reason === 'server-stopping') {
    return new RunError('worker_lost', failure.message, { cause: failure })
  }
  const message = failure instanceof AppError ? failure.message : 'The run failed unexpectedly'
  return new RunError('unknown_error', message, { cause: failure })
}

/** The delay between attempts to write to an unavailable database. */
const retryMs = 500

/**
 * Retries for `storeWaitMs` while the database is unavailable. @param givingUp limits this to one more attempt.
 * @throws the last failure.
 */
export async function whileAway<T>(
  deps: Needs<'runs'>,
  first: Promise<T>,
  again: () => Promise<T>,
  givingUp?: AbortSignal,
): Promise<T> {
  const giveUpAt = performance.now() + deps.runs.settings.storeWaitMs
  for (let attempt = first; ; attempt = again()) {
    try {
      return await attempt
    } catch (error) {
      if (!isUnavailable(error) || performance.now() >= giveUpAt || givingUp?.aborted === true) throw error
      await pause(retryMs, undefined, givingUp && { signal: givingUp }).catch(() => undefined)
    }
  }
}
