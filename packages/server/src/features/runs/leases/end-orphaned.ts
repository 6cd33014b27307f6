/** Ends orphaned runs and runs that were stopped while queued. Each gets exactly one terminal event. */

import type { Message } from '@stet/contract/vocabulary'
import { RunError } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { createRunProgress } from '../events/run-progress.ts'
import type { RunEnd, StoredConversation, StoredLog, StoredRun } from '../ports.ts'
import type { RunFacts } from '../run.ts'
import { encodeEnd, stopped } from '../run-end.ts'
import { isQueuedChat, nextStep, planOf } from '../steps/run-plan.ts'

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
  const lastEventId = (savedId ?? run.lastEventId ?? conversation.lastEventId) + reapedEventGap
  const epochAfter = run.epoch + 1
  const given = saved ? null : await givenTo(deps, conversation, run)
  return endUnsupervised(deps, conversation, run, { failure, from: 'running', saved, given, lastEventId, epochAfter })
}

async function savedLog({ runs }: EndDeps, workspaceId: number, run: StoredRun): Promise<StoredLog | null> {
  const file = await runs.store.findEventLog(workspaceId, run.uuid)
  return file && runs.codec.unpackEventLog(file)
}

/** Renders a background run's first messages from its stored input. Returns none for a run without a stored input. */
async function firstMessages(deps: OrphanDeps, run: StoredRun): Promise<Message[]> {
  const input = await deps.runs.store.findInput(run.uuid)
  // A chat is stored with its messages.
  if (!input || isQueuedChat(input)) return []
  const plan = planOf(deps, input, { runUuid: run.uuid, stream: true })
  return nextStep(deps, plan, undefined, { isRun: true }).then(
    ({ added }) => added,
    // The run must end even if its prompt cannot be rendered.
    () => [],
  )
}

/** Ends a queued run as stopped. Returns false if the run was started or ended in the meantime. */
export async function endQueued(deps: EndDeps, conversation: StoredConversation, run: StoredRun): Promise<boolean> {
  const { epoch: epochAfter, firstEventId: lastEventId } = run
  return endUnsupervised(deps, conversation, run, {
    failure: stopped(),
    from: 'queued',
    saved: null,
    given: await givenTo(deps, conversation, run),
    lastEventId,
    epochAfter,
  })
}

/** The caller's messages of a chat that was queued. They are stored before it starts. Null for other runs. */
async function givenTo(deps: EndDeps, { messages }: StoredConversation, run: StoredRun): Promise<RunFacts['given']> {
  const input = await deps.runs.store.findInput(run.uuid)
  return input && isQueuedChat(input) ? { from: messages.length - input.given, count: input.given } : null
}

interface UnsupervisedEnd extends Pick<RunEnd, 'from' | 'epochAfter' | 'lastEventId'> {
  failure: RunError
  /** The event log before the end. */
  saved: StoredLog | null
  given: RunFacts['given']
}

async function endUnsupervised(
  deps: EndDeps,
  conversation: StoredConversation,
  run: StoredRun,
  { failure, from, saved, given, lastEventId, epochAfter }: UnsupervisedEnd,
): Promise<boolean> {
  const progress = createRunProgress(deps.runs.codec, conversation.messages)
  progress.facts.given = given
  if (saved?.underWay) {
    progress.spending = saved.underWay.spending
    Object.assign(progress.facts, saved.underWay.facts)
  }
  const { epoch, uuid: runUuid } = run
  const place = { epoch, epochAfter, from, lastEventId }
  const unsupervised = { conversation, runUuid, progress, entries: saved?.entries ?? [], ...place }
  const { end, terminal } = await encodeEnd(deps, unsupervised, { failure })
  if (!(await deps.runs.store.end(end))) return false
  deps.runs.active.forget(conversation.uuid)
  if (from === 'queued') {
    // Shows the terminal event to waiting readers. This event is the only one of the run.
    const log = deps.runs.eventLog.open(run.uuid, () => {}, true)
    log.append(progress.encoded, [terminal])
    log.close()
  } else {
    // Releases readers in this process that wait for the first event. The stored event log has the end.
    deps.runs.eventLog.forget(run.uuid)
  }
  return true
}
