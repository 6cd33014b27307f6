import type { Message } from '@stet/contract/vocabulary'
import { RunError, refuse } from '../../shared/app-error.ts'
import type { Span } from '../../shared/telemetry.ts'
import { createRunProgress } from './events/run-progress.ts'
import { appendEntries, type RunRecorder, record, saveProgress } from './events/run-recorder.ts'
import type { SupervisedRun } from './events/watch-run.ts'
import { type ExecuteDeps, executeRun } from './execute-run.ts'
import { endedConversation, startedConversation } from './leases/active-runs.ts'
import type { EndedRun, NewConversation, NewRun, RunEnd, StoredConversation } from './ports.ts'
import type { ShowEvents } from './run.ts'
import { disconnected, type Ending, encodeEnd, notStored, overdue, runFailure, stopped, whileAway } from './run-end.ts'
import { type RunPlan, runAttributes, variableAttributes } from './steps/run-plan.ts'

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
  /** Replaces the grace period. */
  endsWithReader?: boolean | undefined
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
  const { messages = [], plan } = input
  const progress = createRunProgress(codec, messages)
  progress.facts.startedAt = deps.clock.now().getTime()
  // A chat's messages are part of the conversation, even if its first step fails.
  if (messages.length > 0) progress.facts.given = { from: messages.length - plan.given, count: plan.given }
  const log = eventLog.open(
    run.uuid,
    (count) => limitAbsence(own, input.endsWithReader ? 0 : settings.graceMs, count),
    input.mode === 'background',
  )
  const lastId = run.firstEventId - 1
  const { clock } = deps
  const recorder = { progress, log, conversation, clock, bounds: settings, lastId, bytes: 0, completed: undefined }
  const span = input.span?.child('run', runAttributes(input.plan, input.mode))
  span?.setContent(() => variableAttributes(input.plan))
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
  return { conversationUuid: conversation.uuid, runUuid: run.uuid, committed, reader, ending }
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
    const failure = runFailure(signal.aborted ? signal.reason : error)
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
  const failure = { runUuid: run.uuid, reason: nameOf(cause), frames: frames?.join('\n') }
  deps.logger.error('run.unforeseen-failure', { ...failure, ...span?.ids })
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : typeof cause
}

/** Cancels a foreground run that has no readers for `graceMs`. @param readers the current number of readers. */
function limitAbsence(own: OwnRun, graceMs: number, readers: number): void {
  clearTimeout(own.grace)
  if (readers > 0 || own.isExecuted || own.mode === 'background') return
  const leave = () => own.controller.abort(disconnected())
  if (graceMs === 0) leave()
  else own.grace = setTimeout(leave, graceMs)
}

/** Stores the end, then shows the terminal event. A client that sees this event can continue the conversation. */
async function storeAndShow(deps: ExecuteDeps, own: OwnRun, ending: Ending): Promise<StoredConversation> {
  const { conversation, run, recorder, span } = own
  const { end, terminal } = await endAs(deps, own, ending)
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
  const { status, result, endedAt } = end
  const outcome = endedConversation(conversation, run, end)
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

function endAs(deps: ExecuteDeps, { conversation, run, recorder }: OwnRun, ending: Ending) {
  const { log, progress, completed, lastId } = recorder
  const place = { epoch: run.epoch, epochAfter: run.epoch, from: 'running' as const, lastEventId: lastId + 1 }
  return encodeEnd(
    deps,
    { conversation, runUuid: run.uuid, progress, entries: log.entries, completed, ...place },
    ending,
  )
}

/**
 * Shows this failure as the end, because a stream without a terminal event looks broken. This process stores the same end
 * once the database accepts writes again (`endAbandoned`). @throws AppError `run-not-stored`.
 */
async function showUnstored(deps: ExecuteDeps, own: OwnRun, cause: unknown): Promise<never> {
  const { recorder, run, span } = own
  deps.logger.error('run.end-not-stored', { runUuid: run.uuid, reason: nameOf(cause), ...span?.ids })
  const { end, terminal } = await endAs(deps, own, { failure: notStored() })
  own.unstored = end
  appendEntries(recorder, [terminal])
  throw refuse('run-not-stored', {}, { cause })
}
