import { setTimeout as pause } from 'node:timers/promises'
import { AppError, isUnavailable, RunError, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { RunEvent, ShowEvents } from './events/run-event.ts'
import { appendEntries, encodeNext, type RunRecorder, record } from './events/run-recorder.ts'
import { type ExecuteDeps, executeRun } from './execute-run.ts'
import type { NewRun, RunEnd, RunLogReader, StoredConversation, StoredRunResult } from './ports.ts'
import type { RunPlan } from './steps/run-plan.ts'
import { latitude, type RunCompletion, type RunProgress } from './steps/run-progress.ts'

export type SuperviseDeps = ExecuteDeps & Needs<'runs'>

export interface SuperviseInput {
  conversation: StoredConversation
  run: NewRun
  plan: RunPlan
  /** Contains the messages that precede the first event. */
  progress: RunProgress
  /** Resolves when the run's row is committed. */
  stored: Promise<unknown>
  /** True if the run continues without readers. */
  isBackground?: true
}

export interface SupervisedRun {
  conversationUuid: string
  committed: Promise<unknown>
  progress: RunProgress
  /** Counts as a reader from the start. The receiver must read it or release it. */
  reader: RunLogReader
  /** Settles after the terminal event is visible. Rejects if the end could not be stored. */
  ending: Promise<Ending>
}

interface OwnRun extends SuperviseInput {
  controller: AbortController
  committed: Promise<unknown>
  recorder: RunRecorder
  deadline: NodeJS.Timeout
  /** The timer while the run has no reader. */
  grace: NodeJS.Timeout | undefined
  /** True once execution ended. No time limit applies to storing the end. */
  isExecuted: boolean
  isOutgrown: boolean
}

/** Supervises a run from its first event to its stored end, with or without readers. Returns immediately. */
export function superviseRun(deps: SuperviseDeps, input: SuperviseInput): SupervisedRun {
  const { run, progress, conversation } = input
  const { eventLog, settings, active } = deps.runs
  const controller = new AbortController()
  const committed = input.stored.catch((cause: unknown) => {
    // The failure is a 500, because clients repeat a request after 503 and the provider may already have been called.
    const failure = refuse('run-not-stored', {}, { cause })
    controller.abort(failure)
    throw failure
  })
  // Prevents an unhandled rejection; the run's end reports the failure too.
  committed.catch(() => undefined)
  const log = eventLog.open(run.uuid, (count) => limitAbsence(own, settings.graceMs, count))
  const bounds = { maxEvents: settings.maxEvents, maxEventBytes: settings.maxEventBytes }
  const lastId = run.firstEventId - 1
  const own: OwnRun = {
    ...input,
    controller,
    committed,
    recorder: { progress, log, conversation, clock: deps.clock, bounds, lastId, bytes: 0, completed: undefined },
    deadline: setTimeout(() => controller.abort(overdue(settings.runTimeoutMs)), settings.runTimeoutMs),
    grace: undefined,
    isExecuted: false,
    isOutgrown: false,
  }
  const reader = eventLog.follow(run.uuid, lastId)
  if (!reader) throw new Error('A log that was just opened can be followed')
  const ending = superviseToEnd(deps, own)
  active.add({
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    workspaceId: conversation.workspaceId,
    view: () => ({ ...conversation, messages: [...progress.messages] }),
    // Callers get the failure from `ending`.
    ended: ending.catch(() => undefined),
    abort: (reason) => controller.abort(reason),
  })
  return { conversationUuid: conversation.uuid, committed, progress, reader, ending }
}

async function superviseToEnd(deps: SuperviseDeps, own: OwnRun): Promise<Ending> {
  try {
    return await storeAndShow(deps, own, await executeToEnd(deps, own))
  } catch (failure) {
    // Readers never see an end that is not stored. They may attach again later.
    const { uuid: conversationUuid, workspaceId } = own.conversation
    const run = { runUuid: own.run.uuid, conversationUuid, workspaceId }
    deps.runs.active.remove(run, undefined)
    deps.runs.active.abandon(run)
    own.recorder.log.close()
    throw failure
  }
}

/** Executes the run to its end. Every failure becomes a run error. */
async function executeToEnd(deps: SuperviseDeps, own: OwnRun): Promise<Ending> {
  const { plan, progress, run, controller, recorder } = own
  const { signal } = controller
  const unlisten = deps.runs.signals.onStop(run.uuid, () => controller.abort(stopped()))
  const showEvents: ShowEvents = (events) => {
    recorder.log.setCallerAwaited(progress.awaitedCalls > 0)
    if (record(recorder, events)) return
    own.isOutgrown = true
    controller.abort(new RunError('ai_run_error', 'The run outgrew its event log'))
  }
  try {
    const completion = await executeRun(deps, plan, progress, { showEvents, signal })
    // After the last event, the signal is ignored, so that a late stop does not discard the answer.
    if (own.isOutgrown) signal.throwIfAborted()
    return { completion }
  } catch (error) {
    // After an abort, any other error is only a consequence.
    const failure = toRunFailure(signal.aborted ? signal.reason : error)
    if (failure.code === 'unknown_error') logUnforeseen(deps, run.uuid, failure.cause)
    return { failure }
  } finally {
    own.isExecuted = true
    clearTimeout(own.deadline)
    clearTimeout(own.grace)
    unlisten()
  }
}

function logUnforeseen(deps: SuperviseDeps, runUuid: string, cause: unknown): void {
  if (cause === undefined) return
  const frames =
    cause instanceof Error ? cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) : undefined
  deps.logger.error('run.unforeseen-failure', { runUuid, reason: nameOf(cause), frames: frames?.join('\n') })
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : typeof cause
}

function overdue(runTimeoutMs: number): RunError {
  const seconds = runTimeoutMs / 1000
  return new RunError('run_timeout_error', `The run took longer than ${seconds} seconds`, { details: { seconds } })
}

/** Cancels a foreground run that has no readers for `graceMs`. @param readers the current number of readers. */
function limitAbsence(own: OwnRun, graceMs: number, readers: number): void {
  clearTimeout(own.grace)
  if (readers > 0 || own.isExecuted || own.isBackground) return
  const leave = () => {
    const message = 'Run canceled: the client disconnected'
    own.controller.abort(new RunError('abort_error', message, { details: { reason: 'disconnect' } }))
  }
  if (graceMs === 0) leave()
  else own.grace = setTimeout(leave, graceMs)
}

/** Stores the end, then shows the terminal event. After that, the conversation can be read and continued. */
async function storeAndShow(deps: SuperviseDeps, own: OwnRun, ending: Ending): Promise<Ending> {
  const { conversation, run, progress, recorder } = own
  const { log } = recorder
  appendEntries(recorder, [])
  const terminal = encodeNext(recorder, terminalEvent(ending, progress))
  const endedAt = deps.clock.now()
  const status = statusOf(ending)
  const messages = [...progress.messages]
  const result = storedResult(ending, progress, recorder.completed)
  const shared = { epoch: run.epoch, status, messages, lastEventId: recorder.lastId }
  const end = {
    ...shared,
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    epochAfter: run.epoch,
    from: 'running' as const,
    result,
    eventLog: await progress.codec.packEventLog(log.messages, [...log.entries, terminal]),
    endedAt,
  }
  // The start and the end may share one write batch. If the start fails, so does the end.
  const attempt = deps.runs.store.end(end)
  attempt.catch(() => undefined)
  await own.committed
  if (!(await storeEnd(deps, end, attempt))) {
    throw refuse('run-not-stored')
  }
  const { createdAt, firstEventId } = run
  const latestRun = { ...shared, uuid: run.uuid, firstEventId, result, stopRequestedAt: null, createdAt, endedAt }
  const ids = { runUuid: run.uuid, conversationUuid: conversation.uuid }
  deps.runs.active.remove(ids, { ...conversation, ...shared, updatedAt: endedAt, latestRun })
  appendEntries(recorder, [terminal])
  log.close()
  const durationMs = endedAt.getTime() - run.createdAt.getTime()
  deps.runs.metrics.runEnded(status, durationMs / 1000)
  deps.logger.info('run.ended', { ...ids, status, durationMs })
  return ending
}

export type Ending = { completion: RunCompletion } | { failure: RunError }

export function statusOf(ending: Ending): RunEnd['status'] {
  if ('completion' in ending) return 'completed'
  return ending.failure.code === 'abort_error' ? 'stopped' : 'error'
}

export function terminalEvent(ending: Ending, progress: RunProgress): RunEvent {
  const { tokenUsage, cost } = progress.spending
  if ('failure' in ending) {
    return latitude(progress, { type: 'chain-error', error: ending.failure, cost, tokenUsage })
  }
  const { answer, toolRequests } = ending.completion
  const { toolCalls, finishReason } = answer.response
  return latitude(progress, {
    type: 'chain-completed',
    response: answer,
    toolCalls,
    finishReason,
    tokenUsage,
    cost,
    toolRequests,
  })
}

export function storedResult(
  ending: Ending,
  { spending, answer, messages }: RunProgress,
  completed: StoredRunResult['completed'],
): StoredRunResult {
  const shared = { ...spending, covers: messages.length, ...(completed && { completed }) }
  if ('completion' in ending) {
    return { response: ending.completion.answer.response, toolRequests: ending.completion.toolRequests, ...shared }
  }
  const { code, message, details } = ending.failure
  return {
    ...(answer && { response: answer.response }),
    toolRequests: [],
    ...shared,
    error: { code, message, details },
  }
}

export function stopped(): RunError {
  return new RunError('abort_error', 'The run was stopped', { details: { reason: 'stop' } })
}

/** Unforeseen failures do not expose their message, because it may quote statements and addresses. */
function toRunFailure(failure: unknown): RunError {
  if (failure instanceof RunError) return failure
  const message = failure instanceof AppError ? failure.message : 'The run failed unexpectedly'
  return new RunError('unknown_error', message, { cause: failure })
}

/** The delay between attempts to write to an unavailable database. */
export const retryMs = 500

/** Retries for `storeWaitMs` while the database is unavailable. Returns false if nothing was written. */
async function storeEnd(deps: Needs<'runs' | 'logger'>, end: RunEnd, first: Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + deps.runs.settings.storeWaitMs
  for (let attempt = first; ; attempt = deps.runs.store.end(end)) {
    try {
      return await attempt
    } catch (error) {
      const isAway = isUnavailable(error)
      if (!isAway || performance.now() >= giveUpAt) {
        deps.logger.error('run.end-not-stored', {
          runUuid: end.runUuid,
          reason: error instanceof Error ? error.name : '',
        })
        return false
      }
      await pause(retryMs)
    }
  }
}
