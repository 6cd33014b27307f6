/** Ends runs without a supervisor: orphaned ones, and those stopped while queued. Each gets exactly one terminal event. */

import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { Message } from '../../templates/message.ts'
import type { RunEnd, StoredConversation, StoredRun } from '../ports.ts'
import { nextStep, planOf } from '../steps/run-plan.ts'
import { createRunProgress } from '../steps/run-progress.ts'
import { statusOf, stopped, storedResult, terminalEvent } from '../supervise-run.ts'

type EndDeps = Needs<'runs' | 'clock'>
type OrphanDeps = EndDeps & Needs<'templates'>

// Gives the terminal event a higher id than any event that the dead owner streamed but did not store.
const reapedEventGap = 1_000_000

/**
 * False if the run has ended already. Takes the next epoch, so that an owner that wakes up writes nothing. The conversation
 * keeps its messages, or for a background run those that it began with.
 */
export async function endOrphaned(deps: OrphanDeps, lost: StoredConversation, run: StoredRun): Promise<boolean> {
  const messages = lost.messages.length > 0 ? lost.messages : await firstMessages(deps, run)
  const conversation = { ...lost, messages }
  const failure = new RunError('worker_lost', 'The process that ran it has died')
  const firstEventId = (run.lastEventId ?? conversation.lastEventId) + reapedEventGap
  return endUnsupervised(deps, conversation, run, { failure, from: 'running', firstEventId, epochAfter: run.epoch + 1 })
}

/** Rendered again from the input of a queued run. None for other runs: their callers still have the request. */
async function firstMessages(deps: OrphanDeps, run: StoredRun): Promise<Message[]> {
  const input = await deps.runs.store.findInput(run.uuid)
  if (!input) return []
  const plan = planOf(deps, input, { runUuid: run.uuid, stream: true })
  return nextStep(deps, plan, undefined, { isRun: true }).then(
    ({ added }) => added,
    // The prompt may have killed the process or may not render. The end must not depend on it.
    () => [],
  )
}

/** False if the run was started or ended in the meantime. */
export function endQueued(deps: EndDeps, conversation: StoredConversation, run: StoredRun): Promise<boolean> {
  const { epoch, firstEventId } = run
  return endUnsupervised(deps, conversation, run, {
    failure: stopped(),
    from: 'queued',
    firstEventId,
    epochAfter: epoch,
  })
}

interface UnsupervisedEnd extends Pick<RunEnd, 'from' | 'epochAfter'> {
  failure: RunError
  firstEventId: number
}

async function endUnsupervised(
  deps: EndDeps,
  conversation: StoredConversation,
  run: StoredRun,
  { failure, from, firstEventId, epochAfter }: UnsupervisedEnd,
): Promise<boolean> {
  const { codec } = deps.runs
  const ending = { failure }
  const progress = createRunProgress(codec, conversation.messages)
  const { uuid: conversationUuid, messages } = conversation
  const endedAt = deps.clock.now()
  const terminal = codec.encodeEvent(terminalEvent(ending, progress), firstEventId, endedAt, conversation)
  const status = statusOf(ending)
  const result = storedResult(ending, progress, undefined)
  const shared = { status, messages, lastEventId: firstEventId }
  const end = { ...shared, runUuid: run.uuid, conversationUuid, epoch: run.epoch, epochAfter, from, result, endedAt }
  const { encoded } = progress
  if (!(await deps.runs.store.end({ ...end, eventLog: await codec.packEventLog(encoded, [terminal]) }))) return false
  deps.runs.active.forget(conversationUuid)
  if (from === 'queued') {
    // Readers wait for the first event, which is also the last.
    const log = deps.runs.eventLog.open(run.uuid, () => {})
    log.append(encoded, [terminal])
    log.close()
  } else {
    // Releases readers that wait for the dead owner's first event: the stored end answers them.
    deps.runs.eventLog.forget(run.uuid)
  }
  return true
}
