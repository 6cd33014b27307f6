/** Owns a run from its first event to its stored end, whoever listens or leaves: what the run shows goes into its log. */

import { setTimeout as pause } from 'node:timers/promises'
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { createEventEncoder, type EventEncoder } from './encoding/encode-event.ts'
import { packEventLog } from './encoding/event-log-file.ts'
import type { ChainError, RunEvent, ShowEvents } from './events/run-event.ts'
import { createRunRecorder, type RunRecorder } from './events/run-recorder.ts'
import { type ExecuteDeps, executeRun, type RunCompletion, type RunPlan } from './execute-run.ts'
import type { ActiveRun } from './leases/active-runs.ts'
import type {
  NewRun,
  RunEnd,
  RunLogReader,
  RunLogWriter,
  RunSettings,
  StoredConversation,
  StoredRunResult,
} from './ports.ts'
import type { RunSpending } from './run.ts'
import { latitude, type RunProgress } from './run-step.ts'

export type DriveDeps = ExecuteDeps & Needs<'runs' | 'runSettings' | 'runSignals' | 'eventLog' | 'activeRuns'>

export interface DriveInput {
  /** As it stands when the run starts. */
  conversation: StoredConversation
  run: NewRun
  plan: RunPlan
  /** Holds the messages that come before the first event. */
  progress: RunProgress
  /** Resolves when the row of the run is committed. */
  stored: Promise<void>
  /** Goes on whether somebody listens or not. */
  isBackground?: true
}

export interface DrivenRun {
  conversationUuid: string
  committed: Promise<void>
  progress: RunProgress
  /** A listener from the start: whoever gets the run reads with it or releases it. */
  reader: RunLogReader
  /** Settles after the terminal event is visible. Rejects when no end could be stored. */
  ending: Promise<Ending>
}

/** Starts to drive; returns at once. */
export function driveRun(deps: DriveDeps, input: DriveInput): DrivenRun {
  const { run, progress, conversation } = input
  const controller = new AbortController()
  const abort = (reason: RunError) => controller.abort(reason)
  const { runTimeoutMs, graceMs } = deps.runSettings
  const limits = startLimits({ runTimeoutMs, graceMs: input.isBackground ? undefined : graceMs }, abort)
  const unlisten = deps.runSignals.onStop(run.uuid, () => abort(stopped()))
  const log = deps.eventLog.open(run.uuid, limits.listenersChanged)
  const encoder = createEventEncoder({
    conversationUuid: conversation.uuid,
    source: conversation,
    firstEventId: run.firstEventId,
    clock: deps.clock,
  })
  const recorder = createRunRecorder(deps.runSettings, encoder, progress.list, log)
  const reader = deps.eventLog.follow(run.uuid, run.firstEventId - 1)
  if (!reader) throw new Error('A log that was just opened can be followed')

  const committed = input.stored.catch((cause: unknown) => {
    // The provider may have been called: no answer may invite the caller to repeat.
    const failure = new AppError('InternalServerError', 'The run could not be stored', { cause })
    controller.abort(failure)
    throw failure
  })
  // The end of the run tells of it as well; until then nobody may be waiting.
  committed.catch(() => undefined)
  const { promise: ended, resolve: settle } = withResolver()
  const active: ActiveRun = {
    runUuid: run.uuid,
    conversationUuid: conversation.uuid,
    workspaceId: conversation.workspaceId,
    view: () => ({ ...conversation, messages: [...progress.list.messages] }),
    ended,
    abort,
  }
  deps.activeRuns.add(active)
  const own = { input, committed, active, recorder, log, encoder }
  const ending = consume(deps, input, { recorder, log }, controller)
    .finally(() => {
      limits.stop()
      unlisten()
    })
    .then((end) => storeAndShow(deps, own, end))
    .catch((failure: unknown) => {
      // Without a stored end there is none to show: readers are left without one, and may ask again later.
      deps.activeRuns.remove(active, undefined)
      deps.activeRuns.abandon(active)
      log.close()
      throw failure
    })
  // Whoever waits for the run hears of its failure there; nobody has to.
  ending.then(settle, settle)
  return { conversationUuid: conversation.uuid, committed, progress, reader, ending }
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Takes the events of the run to its end; every failure becomes the run's own. */
async function consume(
  deps: DriveDeps,
  { plan, progress, run }: DriveInput,
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
    // Nobody looks at the signal after the last events. A stop that came after the answer does not lose it.
    if (isOutgrown) signal.throwIfAborted()
    return { completion }
  } catch (error) {
    // Once aborted, whatever was thrown is a consequence.
    const failure = toRunFailure(signal.aborted ? signal.reason : error)
    if (failure.code === 'unknown_error') logUnforeseen(deps, run.uuid, failure.cause)
    return { failure }
  }
}

function logUnforeseen(deps: DriveDeps, runUuid: string, cause: unknown): void {
  if (cause === undefined) return
  const frames =
    cause instanceof Error ? cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) : undefined
  deps.log.error('run.unforeseen-failure', { runUuid, reason: nameOf(cause), frames: frames?.join('\n') })
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : typeof cause
}

interface OwnRun {
  input: DriveInput
  committed: Promise<void>
  active: ActiveRun
  recorder: RunRecorder
  log: RunLogWriter
  encoder: EventEncoder
}

/** The stored end first, then the terminal event: whoever has seen it can read and continue the conversation. */
async function storeAndShow(deps: DriveDeps, own: OwnRun, ending: Ending): Promise<Ending> {
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
  // Handed in beside the start, which it follows or joins; without a start there is no end.
  const attempt = deps.runs.end(end)
  attempt.catch(() => undefined)
  await own.committed
  if (!(await storeEnd(deps, end, attempt))) {
    throw new AppError('InternalServerError', 'The end of the run could not be stored')
  }
  const { createdAt, firstEventId } = run
  const latestRun = { ...shared, uuid: run.uuid, firstEventId, result, stopRequestedAt: null, createdAt, endedAt }
  deps.activeRuns.remove(active, { ...conversation, ...shared, updatedAt: endedAt, latestRun })
  recorder.publish(terminal)
  log.close()
  logEnd(deps, own.input, status, endedAt)
  return ending
}

function logEnd(deps: DriveDeps, { run, conversation }: DriveInput, status: string, endedAt: Date): void {
  deps.log.info('run.ended', {
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
function toRunFailure(failure: unknown): RunError {
  if (failure instanceof RunError) return failure
  const message = failure instanceof AppError ? failure.message : 'The run failed unexpectedly'
  return new RunError('unknown_error', message, { cause: failure })
}

export interface RunLimits {
  listenersChanged(count: number): void
  /** The run has ended: no clock fires any more. */
  stop(): void
}

function startLimits(
  /** Without `graceMs` the run needs no listener. */
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
    abort(new RunError('abort_error', 'Nobody listens to the run any more', { details: { reason: 'disconnect' } }))

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
 * False when the run was lost: to its next owner, or to a database that stayed away. Nothing was written then.
 * @param first the attempt that is under way.
 */
async function storeEnd(
  deps: Needs<'runs' | 'runSettings' | 'log'>,
  end: RunEnd,
  first: Promise<boolean>,
): Promise<boolean> {
  const giveUpAt = performance.now() + deps.runSettings.storeWaitMs
  for (let attempt = first; ; attempt = deps.runs.end(end)) {
    try {
      return await attempt
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'ServiceUnavailableError'
      if (!isAway || performance.now() >= giveUpAt) {
        deps.log.error('run.end-not-stored', { runUuid: end.runUuid, reason: error instanceof Error ? error.name : '' })
        return false
      }
      await pause(retryMs)
    }
  }
}
