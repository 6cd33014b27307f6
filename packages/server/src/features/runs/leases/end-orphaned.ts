/** Ends a run that nobody drives: one whose owner was lost, or one that was stopped while queued. One terminal event, once. */
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { Message } from '../../templates/message.ts'
import { createEventEncoder } from '../encoding/encode-event.ts'
import { packEventLog } from '../encoding/event-log-file.ts'
import { planOf } from '../execute-run.ts'
import type { RunEnd, StoredConversation, StoredRun } from '../ports.ts'
import { createRunProgress } from '../run-step.ts'
import { statusOf, stopped, storedResult, terminalEvent } from '../supervise-run.ts'

type EndDeps = Needs<'runs' | 'eventLog' | 'activeRuns' | 'clock'>
type LostDeps = EndDeps & Needs<'templates'>

// The end ranks above whatever the lost owner showed and had not recorded.
const reapedEventGap = 1_000_000

/**
 * False when the run was ended already. The next epoch is taken: an owner that wakes up writes nothing. The conversation
 * keeps what stands in it, and that of a background run the messages that it began with.
 */
export async function endLost(deps: LostDeps, lost: StoredConversation, run: StoredRun): Promise<boolean> {
  const messages = lost.messages.length > 0 ? lost.messages : await firstMessages(deps, run)
  const conversation = { ...lost, messages }
  const failure = new RunError('worker_lost', 'The process that ran it has died')
  const firstEventId = (run.lastEventId ?? conversation.lastEventId) + reapedEventGap
  return endUndriven(deps, conversation, run, { failure, from: 'running', firstEventId, epochAfter: run.epoch + 1 })
}

/** Rendered anew from what the run started with; none for a run that came with its caller, who still has the request. */
async function firstMessages(deps: LostDeps, run: StoredRun): Promise<Message[]> {
  const input = await deps.runs.findInput(run.uuid)
  if (!input) return []
  const plan = planOf(deps, input, { runUuid: run.uuid, stream: true })
  return plan.nextStep(undefined, { isRun: true }).then(
    ({ added }) => added,
    // The prompt itself may be what ended the process, or cannot be rendered: the end must not depend on it.
    () => [],
  )
}

/** False when the run was started or ended in the meantime. */
export function endQueued(deps: EndDeps, conversation: StoredConversation, run: StoredRun): Promise<boolean> {
  const { epoch, firstEventId } = run
  return endUndriven(deps, conversation, run, { failure: stopped(), from: 'queued', firstEventId, epochAfter: epoch })
}

interface UndrivenEnd extends Pick<RunEnd, 'from' | 'epochAfter'> {
  failure: RunError
  firstEventId: number
}

async function endUndriven(
  deps: EndDeps,
  conversation: StoredConversation,
  run: StoredRun,
  { failure, from, firstEventId, epochAfter }: UndrivenEnd,
): Promise<boolean> {
  const ending = { failure }
  const progress = createRunProgress(conversation.messages)
  const { uuid: conversationUuid, messages } = conversation
  const encoder = createEventEncoder({ conversationUuid, source: conversation, firstEventId, clock: deps.clock })
  const terminal = encoder.encode(terminalEvent(ending, progress))
  const status = statusOf(ending)
  const result = storedResult(ending, progress.spending, undefined, undefined, messages.length)
  const endedAt = deps.clock.now()
  const shared = { status, messages, lastEventId: encoder.lastId() }
  const end = { ...shared, runUuid: run.uuid, conversationUuid, epoch: run.epoch, epochAfter, from, result, endedAt }
  const { encoded } = progress.list
  if (!(await deps.runs.end({ ...end, eventLog: await packEventLog(encoded, [terminal]) }))) return false
  deps.activeRuns.forget(conversationUuid)
  if (from === 'queued') {
    // Readers have waited for the first event: it is the last one too.
    const log = deps.eventLog.open(run.uuid, () => {})
    log.append(encoded, [terminal])
    log.close()
  } else {
    // Whoever waits here for its first event waits for an owner that has gone: the stored end answers.
    deps.eventLog.forget(run.uuid)
  }
  return true
}
