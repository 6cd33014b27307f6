/** Owns a run from its first event to its stored end, with or without readers. Its events go into the event log. */

import { setTimeout as pause } from 'node:timers/promises'
import { AppError, isUnavailable, RunError, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { createEventEncoder, type EventEncoder } from './encoding/encode-event.ts'
import { packEventLog } from './encoding/event-log-file.ts'
import type { RunEvent, RunFailure, ShowEvents } from './events/run-event.ts'
import { createRunRecorder, type RunRecorder } from './events/run-recorder.ts'
import { type ExecuteDeps, executeRun } from './execute-run.ts'
import type {
  ActiveRun,
  NewRun,
  RunEnd,
  RunLogReader,
  RunLogWriter,
  RunSettings,
  StoredConversation,
  StoredRunResult,
} from './ports.ts'
import type { RunSpending } from './run.ts'
import type { RunPlan } from './steps/run-plan.ts'
import { latitude, type RunCompletion, type RunProgress } from './steps/run-progress.ts'

export type SuperviseDeps = ExecuteDeps & Needs<'runs'>

export interface SuperviseInput {
  /** The state at the start of the run. */
  conversation: StoredConversation
  run: NewRun
  plan: RunPlan
  /** Has the messages before the first event. */
  progress: RunProgress
  /** Resolves when the run's row is committed. */
  stored: Promise<void>
  /** Continues without readers. */
  isBackground?: true
}

export interface SupervisedRun {
  conversationUuid: string
  committed: Promise<void>
  progress: RunProgress
  /** Counts as a reader from the start. The receiver reads with it or releases it. */
  reader: RunLogReader
  /** Settles after the terminal event is visible. Rejects if no end could be stored. */
  ending: Promise<Ending>
}

/** Starts to supervise; returns at once. */
export function superviseRun(deps: SuperviseDeps, input: SuperviseInput): SupervisedRun {
  const { run, progress, conversation } = input
  const controller = new AbortController()
  const abort = (reason: RunError) => controller.abort(reason)
  const { runTimeoutMs, graceMs } = deps.runs.settings
  const limits = startLimits({ runTimeoutMs, graceMs: input.isBackground ? undefined : graceMs }, abort)
  const unlisten = deps.runs.signals.onStop(run.uuid, () => abort(stopped()))
  const log = deps.runs.eventLog.open(run.uuid, limits.listenersChanged)
  const encoder = createEventEncoder({
    conversationUuid: conversation.uuid,
    source: conversation,
    firstEventId: run.firstEventId,
    clock: deps.clock,
  })
  const recorder = createRunRecorder(deps.runs.settings, encoder, progress.list, log)
  const reader = deps.runs.eventLog.follow(run.uuid, run.firstEventId - 1)
  if (!reader) throw new Error('A log that was just opened can be followed')

  const committed = input.stored.catch((cause: unknown) => {
    // The provider may have been called, and clients repeat a request after 503: this is a 500.
    const failure = refuse('run-not-stored', {}, { cause })
    controller.abort(failure)
    throw failure
  })
  // The end of the run reports it as well.
  committed.catch(() => undefined)
  let settle = () => {}
  const ended = new Promise<void>((done) => {
    settle = done
  })
  const active: ActiveRun = {
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    workspaceId: conversation.workspaceId,
    view: () => ({ ...conversation, messages: [...progress.list.messages] }),
    ended,
    abort,
  }
  deps.runs.active.add(active)
  const own = { input, committed, active, recorder, log, encoder }
  const ending = consume(deps, input, { recorder, log }, controller)
    .finally(() => {
      limits.stop()
      unlisten()
    })
    .then((end) => storeAndShow(deps, own, end))
    .catch((failure: unknown) => {
      // An end that is not stored is not shown: readers may attach again later.
      deps.runs.active.remove(active, undefined)
      deps.runs.active.abandon(active)
      log.close()
      throw failure
    })
  // The failure reaches callers through `ending`, which nobody has to await.
  ending.then(settle, settle)
  return { conversationUuid: conversation.uuid, committed, progress, reader, ending }
}

/** Executes the run to its end. Every failure becomes the run's own. */
async function consume(
  deps: SuperviseDeps,
  { plan, progress, run }: SuperviseInput,
  { recorder, log }: Pick<OwnRun, 'recorder' | 'log'>,
  controller: AbortController,
): Promise<Ending> {
  const { signal } = controller
  let isOutgrown = false
  const showEvents: ShowEvents = (events) => {
    log.setCallerAwaited(progress.awaitedCalls > 0)
    if (recorder.record(events)) return
    isOutgrown = true
    controller.abort(new RunError('ai_run_error', 'The run outgrew its event log'))
  }
  try {
    const completion = await executeRun(deps, plan, progress, { showEvents, signal })
    // The signal is not checked after the last event. A stop after the answer does not discard it.
    if (isOutgrown) signal.throwIfAborted()
    return { completion }
  } catch (error) {
    // After an abort, any other error is a consequence of it.
    const failure = toRunFailure(signal.aborted ? signal.reason : error)
    if (failure.code === 'unknown_error') logUnforeseen(deps, run.uuid, failure.cause)
    return { failure }
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

interface OwnRun {
  input: SuperviseInput
  committed: Promise<void>
  active: ActiveRun
  recorder: RunRecorder
  log: RunLogWriter
  encoder: EventEncoder
}

/** Stores the end, then shows the terminal event: from then on the conversation can be read and continued. */
async function storeAndShow(deps: SuperviseDeps, own: OwnRun, ending: Ending): Promise<Ending> {
  const { active, recorder, log, encoder } = own
  const { conversation, run, progress } = own.input
  const terminal = recorder.prepareEnd(terminalEvent(ending, progress))
  const endedAt = deps.clock.now()
  const status = statusOf(ending)
  const messages = [...progress.list.messages]
  const result = storedResult(ending, progress.spending, progress.response, recorder.completed(), messages.length)
  const shared = { epoch: run.epoch, status, messages, lastEventId: encoder.lastId() }
  const end = {
    ...shared,
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    epochAfter: run.epoch,
    from: 'running' as const,
    result,
    eventLog: await packEventLog(log.messages, [...log.entries, terminal]),
    endedAt,
  }
  // May share a batch with the start. If the start fails, so does the end.
  const attempt = deps.runs.store.end(end)
  attempt.catch(() => undefined)
  await own.committed
  if (!(await storeEnd(deps, end, attempt))) {
    throw refuse('run-not-stored')
  }
  const { createdAt, firstEventId } = run
  const latestRun = { ...shared, uuid: run.uuid, firstEventId, result, stopRequestedAt: null, createdAt, endedAt }
  deps.runs.active.remove(active, { ...conversation, ...shared, updatedAt: endedAt, latestRun })
  recorder.publish(terminal)
  log.close()
  logEnd(deps, own.input, status, endedAt)
  return ending
}

function logEnd(deps: SuperviseDeps, { run, conversation }: SuperviseInput, status: string, endedAt: Date): void {
  deps.logger.info('run.ended', {
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    status,
    durationMs: endedAt.getTime() - run.createdAt.getTime(),
  })
}

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

/** @param covers number of messages of the conversation at the end. */
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

function chainError({ code, message, details }: RunError): RunFailure {
  return { name: 'DocumentRunError', message, errorCode: code, code, details: { ...details, errorCode: code } }
}

/** Unforeseen failures show no message of their own: it may quote statements and addresses. */
function toRunFailure(failure: unknown): RunError {
  if (failure instanceof RunError) return failure
  const message = failure instanceof AppError ? failure.message : 'The run failed unexpectedly'
  return new RunError('unknown_error', message, { cause: failure })
}

export interface RunLimits {
  listenersChanged(count: number): void
  /** The run has ended: no timer fires. */
  stop(): void
}

function startLimits(
  /** Without `graceMs` the run needs no reader. */
  settings: Pick<RunSettings, 'runTimeoutMs'> & { graceMs: number | undefined },
  abort: (reason: RunError) => void,
): RunLimits {
  const seconds = settings.runTimeoutMs / 1000
  const deadline = setTimeout(() => {
    const message = `The run took longer than ${seconds} seconds`
    abort(new RunError('run_timeout_error', message, { details: { seconds } }))
  }, settings.runTimeoutMs)
  let grace: NodeJS.Timeout | undefined
  let isStopped = false

  const leave = () =>
    abort(new RunError('abort_error', 'Run canceled: the client disconnected', { details: { reason: 'disconnect' } }))

  return {
    listenersChanged(count) {
      clearTimeout(grace)
      if (count > 0 || isStopped || settings.graceMs === undefined) return
      if (settings.graceMs === 0) leave()
      else grace = setTimeout(leave, settings.graceMs)
    },
    stop() {
      isStopped = true
      clearTimeout(deadline)
      clearTimeout(grace)
    },
  }
}

/** Between two attempts to write to a database that is away. */
export const retryMs = 500

/**
 * Stores the end of a run; waits for a database that is away, within bounds. False, and nothing written, if the run has
 * another owner by now or the database stayed away.
 * @param first the attempt in progress.
 */
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
