import { setTimeout as pause } from 'node:timers/promises'
import type { Message } from '@stet/contract/vocabulary'
import { AppError, isUnavailable, RunError, refuse } from '../../shared/app-error.ts'
import type { Span } from '../../shared/tracer.ts'
import type { Needs } from '../deps.ts'
import type { RunEvent, ShowEvents } from './events/run-event.ts'
import { appendEntries, encodeNext, type RunRecorder, record } from './events/run-recorder.ts'
import { saveProgress } from './events/save-progress.ts'
import { type ExecuteDeps, executeRun } from './execute-run.ts'
import type {
  EndedRun,
  LogEntry,
  NewConversation,
  NewRun,
  RunEnd,
  RunLogReader,
  StoredConversation,
  StoredRunResult,
} from './ports.ts'
import { promptAttributes, type RunPlan } from './steps/run-plan.ts'
import { createRunProgress, latitude, type RunCompletion, type RunProgress } from './steps/run-progress.ts'

export interface SuperviseInput {
  conversation: NewConversation
  run: NewRun
  plan: RunPlan
  /** The messages that precede the first event. */
  messages?: readonly Message[]
  /** Resolves when the run's row is committed. Undefined if the row is already committed. */
  stored?: Promise<unknown>
  /** A background run continues without readers. */
  mode: EndedRun['mode']
  /** The span of the request. The run gets a child of it. */
  span?: Span | undefined
}

export interface SupervisedRun {
  conversationUuid: string
  committed: Promise<unknown>
  /** Already counts as a reader of the run. The receiver must release this reader. */
  reader: RunLogReader
  /** The ended conversation, once readers can read the terminal event. Rejects if the end was not stored. */
  ending: Promise<StoredConversation>
}

interface OwnRun extends SuperviseInput {
  conversation: StoredConversation
  controller: AbortController
  committed: Promise<unknown>
  recorder: RunRecorder
  span: Span | undefined
  /** The timer that cancels the run if no reader returns. */
  grace: NodeJS.Timeout | undefined
  /** True once execution has ended. Afterwards, a missing reader does not cancel the run. */
  isExecuted: boolean
  /** Aborted when the run must stop waiting for an unavailable database. */
  givingUp: AbortController
  /** The end that readers were shown instead of the run's own end, which could not be stored. */
  unstored: RunEnd | undefined
}

/** Supervises a run from its first event to its stored end. Returns immediately. */
export function superviseRun(deps: ExecuteDeps, input: SuperviseInput): SupervisedRun {
  const { run } = input
  const { eventLog, settings, active, codec } = deps.runs
  const conversation = startedConversation(input.conversation, run, 'running')
  const controller = new AbortController()
  const committed = (input.stored ?? Promise.resolve()).catch((cause: unknown) => {
    // The failure is a 500, because clients repeat a request after 503 and the provider may already have been called.
    const failure = refuse('run-not-stored', {}, { cause })
    controller.abort(failure)
    throw failure
  })
  // Prevents an unhandled rejection. `ending` rejects with the same failure.
  committed.catch(() => undefined)
  const progress = createRunProgress(codec, input.messages ?? [])
  const log = eventLog.open(
    run.uuid,
    (count) => limitAbsence(own, settings.graceMs, count),
    input.mode === 'background',
  )
  const lastId = run.firstEventId - 1
  const { clock } = deps
  const recorder = { progress, log, conversation, clock, bounds: settings, lastId, bytes: 0, completed: undefined }
  const span = input.span?.child('run', runAttributes(input))
  const state = { grace: undefined, isExecuted: false, givingUp: new AbortController(), unstored: undefined }
  const own: OwnRun = { ...input, conversation, controller, committed, recorder, span, ...state }
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
    giveUp: () => state.givingUp.abort(),
  })
  return { conversationUuid: conversation.uuid, committed, reader, ending }
}

const unfinished = { lastEventId: null, result: null, stopRequestedAt: null, endedAt: null } as const

/** Returns the conversation at the start of a run, without messages. */
export function startedConversation(
  conversation: NewConversation,
  { uuid, epoch, firstEventId, createdAt }: Omit<NewRun, 'ownerId'>,
  status: 'queued' | 'running',
): StoredConversation {
  return {
    ...conversation,
    messages: [],
    status,
    epoch,
    lastEventId: firstEventId - 1,
    updatedAt: createdAt,
    latestRun: { ...unfinished, uuid, status, epoch, firstEventId, createdAt },
  }
}

async function superviseToEnd(deps: ExecuteDeps, own: OwnRun): Promise<StoredConversation> {
  const { run, recorder, conversation } = own
  const saving = own.mode === 'background' ? saveProgress(deps, run, recorder) : undefined
  try {
    const ending = await executeToEnd(deps, own)
    await saving?.stop()
    return await storeAndShow(deps, own, ending)
  } catch (failure) {
    const ids = { runUuid: run.uuid, conversationUuid: conversation.uuid }
    deps.runs.active.remove(ids, undefined)
    deps.runs.active.abandon({ ...ids, workspaceId: conversation.workspaceId, end: own.unstored })
    recorder.log.close()
    own.span?.end('not_stored')
    // Without a terminal event, later readers must not get this event log. They attach again after the run's end.
    if (!own.unstored) deps.runs.eventLog.drop(run.uuid)
    throw failure
  } finally {
    deps.runs.largeAnswers.release(own.conversation.uuid)
  }
}

/** Executes the run to its end. Every failure becomes a run error. */
async function executeToEnd(deps: ExecuteDeps, own: OwnRun): Promise<Ending> {
  const { plan, controller, recorder, span } = own
  const { progress, log } = recorder
  const { signal } = controller
  const { runTimeoutMs } = deps.runs.settings
  const deadline = setTimeout(() => controller.abort(overdue(runTimeoutMs)), runTimeoutMs)
  const unlisten = deps.runs.signals.onStop(own.run.uuid, () => controller.abort(stopped()))
  let isOutgrown = false
  const showEvents: ShowEvents = (events) => {
    log.setCallerAwaited(progress.awaitedCalls > 0)
    if (record(recorder, events)) return
    isOutgrown = true
    controller.abort(new RunError('ai_run_error', 'The run outgrew its event log'))
  }
  try {
    const completion = await executeRun(deps, plan, progress, { showEvents, signal, span })
    // Ignores a stop that arrives after the last event, so that the answer is kept. Exceeded limits still fail the run.
    if (isOutgrown) signal.throwIfAborted()
    return { completion }
  } catch (error) {
    // The abort reason is the cause of every error that follows an abort.
    const failure = toRunFailure(signal.aborted ? signal.reason : error)
    if (failure.code === 'unknown_error') logUnforeseen(deps, own, failure.cause)
    return { failure }
  } finally {
    own.isExecuted = true
    clearTimeout(deadline)
    clearTimeout(own.grace)
    unlisten()
  }
}

function logUnforeseen(deps: ExecuteDeps, { run, span }: OwnRun, cause: unknown): void {
  if (cause === undefined) return
  const frames =
    cause instanceof Error ? cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) : undefined
  const reason = nameOf(cause)
  deps.logger.error('run.unforeseen-failure', {
    ...{ runUuid: run.uuid, reason, frames: frames?.join('\n') },
    ...span?.ids,
  })
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
  if (readers > 0 || own.isExecuted || own.mode === 'background') return
  const leave = () => {
    const message = 'Run canceled: the client disconnected'
    own.controller.abort(new RunError('abort_error', message, { details: { reason: 'disconnect' } }))
  }
  if (graceMs === 0) leave()
  else own.grace = setTimeout(leave, graceMs)
}

/** Stores the end, then shows the terminal event. A client that sees this event can continue the conversation. */
async function storeAndShow(deps: ExecuteDeps, own: OwnRun, ending: Ending): Promise<StoredConversation> {
  const { conversation, run, recorder, span } = own
  appendEntries(recorder, [])
  const { end, terminal } = await encodeEnd(deps, own, ending)
  // Does not wait until the run's row is committed, so that both writes can share one batch.
  const attempt = deps.runs.store.end(end, span)
  attempt.catch(() => undefined)
  await own.committed
  const again = () => deps.runs.store.end(end, span)
  const isStored = await whileAway(deps, attempt, again, own.givingUp.signal).catch((error: unknown) =>
    showUnstored(deps, own, error),
  )
  // Another process has ended the run.
  if (!isStored) throw refuse('run-not-stored')
  const { status, messages, result, lastEventId, endedAt, epoch } = end
  const { createdAt, firstEventId } = run
  const shared = { epoch, status, lastEventId }
  const latestRun = { ...shared, uuid: run.uuid, firstEventId, result, stopRequestedAt: null, createdAt, endedAt }
  const outcome = { ...conversation, ...shared, messages, updatedAt: endedAt, latestRun }
  deps.runs.active.remove(end, outcome)
  appendEntries(recorder, [terminal])
  recorder.log.close()
  const durationMs = endedAt.getTime() - run.createdAt.getTime()
  const { projectId, path } = conversation
  deps.runs.metrics.runEnded({ status, mode: own.mode, projectId, path, seconds: durationMs / 1000 })
  const { runUuid, conversationUuid } = end
  deps.logger.info('run.ended', { runUuid, conversationUuid, status, durationMs, ...span?.ids })
  span?.set({ 'stet.run.status': status, 'stet.cost_usd': result.cost })
  span?.end('failure' in ending ? ending.failure.code : undefined)
  return outcome
}

async function encodeEnd(
  { clock }: ExecuteDeps,
  { conversation, run, recorder }: OwnRun,
  ending: Ending,
): Promise<{ end: RunEnd; terminal: LogEntry }> {
  const { log, progress, completed } = recorder
  const terminal = encodeNext(recorder, terminalEvent(ending, progress))
  const endedAt = clock.now()
  const ended = endOf(ending, progress, completed)
  const eventLog = await progress.codec.packEventLog({ messages: log.messages, entries: [...log.entries, terminal] })
  const ids = { workspaceId: run.workspaceId, runUuid: run.uuid, conversationUuid: conversation.uuid }
  const place = { epoch: run.epoch, epochAfter: run.epoch, from: 'running', lastEventId: recorder.lastId } as const
  return { end: { ...ids, ...place, ...ended, eventLog, endedAt }, terminal }
}

/**
 * Shows an end that says so, because a stream without a terminal event looks broken. This process stores the same end
 * once the database accepts writes again (`endAbandoned`). @throws AppError `run-not-stored`.
 */
async function showUnstored(deps: ExecuteDeps, own: OwnRun, cause: unknown): Promise<never> {
  const { recorder, run, span } = own
  deps.logger.error('run.end-not-stored', { runUuid: run.uuid, reason: nameOf(cause), ...span?.ids })
  // The new terminal event replaces the one that no reader has seen.
  recorder.lastId -= 1
  const { end, terminal } = await encodeEnd(deps, own, { failure: notStored() })
  own.unstored = end
  appendEntries(recorder, [terminal])
  throw refuse('run-not-stored', {}, { cause })
}

function runAttributes(input: SuperviseInput) {
  const { conversation, run } = input
  return {
    'stet.run.mode': input.mode,
    'stet.run.uuid': run.uuid,
    'gen_ai.conversation.id': conversation.uuid,
    'stet.workspace.id': conversation.workspaceId,
    'stet.project.id': conversation.projectId,
    ...promptAttributes(input.plan),
  }
}

export type Ending = { completion: RunCompletion } | { failure: RunError }

export function terminalEvent(ending: Ending, progress: RunProgress): RunEvent {
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

export function endOf(
  ending: Ending,
  { spending, answer, messages: shown }: RunProgress,
  completed?: StoredRunResult['completed'],
): Pick<RunEnd, 'status' | 'messages' | 'result'> {
  const messages = [...shown]
  const shared = { ...spending, covers: messages.length, ...(completed && { completed }) }
  if ('completion' in ending) {
    const { answer, toolRequests } = ending.completion
    return { status: 'completed', messages, result: { response: answer.response, toolRequests, ...shared } }
  }
  const { code, message, details } = ending.failure
  const result = { ...(answer && { response: answer.response }), toolRequests: [], ...shared }
  const status = code === 'abort_error' ? 'stopped' : 'error'
  return { status, messages, result: { ...result, error: { code, message, details } } }
}

export function stopped(): RunError {
  return new RunError('abort_error', 'The run was stopped', { details: { reason: 'stop' } })
}

/** The failure of a run whose row or end could not be stored. */
export function notStored(): RunError {
  const { message, reason } = refuse('run-not-stored')
  return new RunError('unknown_error', message, { details: { reason } })
}

/** Hides the message of an unforeseen failure, because the message may quote SQL statements or addresses. */
function toRunFailure(failure: unknown): RunError {
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
