/** Ends orphaned runs and runs that were stopped while queued. Each gets exactly one terminal event. */

import type { Message } from '@stet/contract/vocabulary'
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { RunEnd, StoredConversation, StoredLog, StoredRun } from '../ports.ts'
import { nextStep, planOf } from '../steps/run-plan.ts'
import { createRunProgress } from '../steps/run-progress.ts'
import { endOf, stopped, terminalEvent } from '../supervise-run.ts'

type EndDeps = Needs<'runs' | 'clock'>
export type OrphanDeps = EndDeps & Needs<'templates'>

// The dead owner may have streamed events without storing them. The gap puts the terminal event's id above their ids.
const reapedEventGap = 1_000_000

/**
 * Returns false if the run has already ended. Takes the next epoch, so that an owner that wakes up cannot write. The
 * conversation keeps its messages. A background run also keeps the events, messages and spending that its owner saved
 * while it ran; before the first save, its first messages are rendered again.
 */
export async function endOrphaned(
  deps: OrphanDeps,
  lost: StoredConversation,
  run: StoredRun,
  failure = new RunError('worker_lost', 'The process that ran it has died'),
): Promise<boolean> {
  const saved = await savedLog(deps, lost.workspaceId, run)
  const messages = saved
    ? saved.messages.map((message) => JSON.parse(message) as Message)
    : lost.messages.length > 0
      ? lost.messages
      : await firstMessages(deps, run)
  const conversation = { ...lost, messages }
  const last = saved?.entries.at(-1)
  const savedId = last && ('lastId' in last ? last.lastId : last.id)
  const firstEventId = (savedId ?? run.lastEventId ?? conversation.lastEventId) + reapedEventGap
  const epochAfter = run.epoch + 1
  return endUnsupervised(deps, conversation, run, { failure, from: 'running', saved, firstEventId, epochAfter })
}

async function savedLog({ runs }: EndDeps, workspaceId: number, run: StoredRun): Promise<StoredLog | null> {
  const file = await runs.store.findEventLog(workspaceId, run.uuid)
  return file && runs.codec.unpackEventLog(file)
}

/** Renders a background run's first messages from its stored input. Returns none for a run without a stored input. */
async function firstMessages(deps: OrphanDeps, run: StoredRun): Promise<Message[]> {
  const input = await deps.runs.store.findInput(run.uuid)
  if (!input) return []
  const plan = planOf(deps, input, { runUuid: run.uuid, stream: true })
  return nextStep(deps, plan, undefined, { isRun: true }).then(
    ({ added }) => added,
    // The run must end even if its prompt cannot be rendered.
    () => [],
  )
}

/** Ends a queued run as stopped. Returns false if the run was started or ended in the meantime. */
export function endQueued(deps: EndDeps, conversation: StoredConversation, run: StoredRun): Promise<boolean> {
  const { epoch: epochAfter, firstEventId } = run
  return endUnsupervised(deps, conversation, run, {
    failure: stopped(),
    from: 'queued',
    saved: null,
    firstEventId,
    epochAfter,
  })
}

interface UnsupervisedEnd extends Pick<RunEnd, 'from' | 'epochAfter'> {
  failure: RunError
  /** The event log before the end. */
  saved: StoredLog | null
  firstEventId: number
}

async function endUnsupervised(
  deps: EndDeps,
  conversation: StoredConversation,
  run: StoredRun,
  { failure, from, saved, firstEventId, epochAfter }: UnsupervisedEnd,
): Promise<boolean> {
  const { codec } = deps.runs
  const progress = createRunProgress(codec, conversation.messages)
  if (saved?.spending) progress.spending = saved.spending
  const { encoded } = progress
  const endedAt = deps.clock.now()
  const terminal = codec.encodeEvent(terminalEvent({ failure }, progress), firstEventId, endedAt, conversation)
  const eventLog = await codec.packEventLog({ messages: encoded, entries: [...(saved?.entries ?? []), terminal] })
  const place = { epoch: run.epoch, epochAfter, from, lastEventId: firstEventId, endedAt }
  const ids = { workspaceId: conversation.workspaceId, runUuid: run.uuid, conversationUuid: conversation.uuid }
  if (!(await deps.runs.store.end({ ...ids, ...place, ...endOf({ failure }, progress), eventLog }))) return false
  deps.runs.active.forget(conversation.uuid)
  if (from === 'queued') {
    // Shows the terminal event to waiting readers. This event is the only one of the run.
    const log = deps.runs.eventLog.open(run.uuid, () => {}, true)
    log.append(encoded, [terminal])
    log.close()
  } else {
    // Releases readers in this process that wait for the first event. The stored event log has the end.
    deps.runs.eventLog.forget(run.uuid)
  }
  return true
}
