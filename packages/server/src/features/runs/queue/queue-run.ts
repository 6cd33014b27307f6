/** Queues background runs, and the runs of experiments and judges. */
import { createHash, randomUUID } from 'node:crypto'
import { refuse } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { ClaimedRun } from '../../idempotency/ports.ts'
import type { ExecuteDeps } from '../execute-run.ts'
import { startedConversation } from '../leases/active-runs.ts'
import type { NewConversation, RunStart, StoredConversation } from '../ports.ts'
import type { PromptInput, QueuedInput } from '../run.ts'
import { prepareRun, requireFirstUse, type StartRunInput } from '../start-run.ts'

/**
 * @throws the errors of `prepareRun`; AppError ConflictError if the Idempotency-Key was used;
 * ServiceUnavailableError if the API key has too many queued runs, or while runs cannot be stored.
 */
export async function queueRun(deps: ExecuteDeps, input: StartRunInput): Promise<ClaimedRun> {
  deps.runs.store.assertOpen()
  const { span, claim } = input
  const { conversation, prompt: prepared, start } = await prepareRun(deps, input, 'background')
  const prompt = span ? { ...prepared, traceparent: span.traceparent } : prepared
  const { uuid: conversationUuid, workspaceId, via, createdAt } = conversation
  const run = { uuid: randomUUID(), conversationUuid, workspaceId, epoch: 1, firstEventId: 1, via, createdAt }
  const queued = { conversation: startedConversation(conversation, run, 'queued'), input: prompt }
  await enterQueue(deps, { ...queued, runUuid: run.uuid }, async () => {
    const row = { ...run, ...start, mode: 'background' as const, input: prompt }
    requireFirstUse(await deps.runs.store.create(conversation, row, claim, span))
  })
  return { conversationUuid, runUuid: run.uuid }
}

interface EnteringRun {
  runUuid: string
  /** As it is until the run starts. */
  conversation: StoredConversation
  input: QueuedInput
}

/**
 * Gives the run a place in the queue, stores it, and makes it ready to start.
 * @param store stores the run as queued, or throws.
 * @throws AppError ServiceUnavailableError if the API key has too many queued runs; the errors of `store`.
 */
export async function enterQueue(
  { runs }: Needs<'runs'>,
  { runUuid, conversation, input }: EnteringRun,
  store: () => Promise<void>,
): Promise<void> {
  const { apiKeyId } = input
  if (!(await runs.queue.reserve(runUuid, apiKeyId))) throw refuse('queue-full', { retryAfter: 5 })
  runs.eventLog.expect(runUuid)
  try {
    await store()
  } catch (error) {
    runs.queue.remove(runUuid)
    runs.eventLog.forget(runUuid)
    throw error
  }
  runs.active.rememberQueued(runUuid, { conversation, input: JSON.stringify(input) }, !runs.settings.sharesDatabase)
  runs.queue.add({ runUuid, apiKeyId })
}

// The conversations of runs of experiments and judges have uuids that are known before, so repeating is harmless.
export interface ItemRun {
  /** Its uuid is derived from the item, and `via` is `experiment` or `judge`. */
  conversation: NewConversation
  prompt: PromptInput
  start: Omit<RunStart, 'mode'>
}

/** Leaves most workers of a process to the runs of callers. */
const maxActivePerProcess = 8

/** Returns how many more runs of experiments and judges may be queued now. */
export async function itemRoom(deps: Pick<ExecuteDeps, 'runs'>): Promise<number> {
  const { active, processes } = await deps.runs.store.countItems()
  return Math.max(0, maxActivePerProcess * Math.max(1, processes) - active)
}

/**
 * Stores and queues a run. Returns `exists` if its conversation was queued before, by any process, and `full` if the API
 * key has too many queued runs.
 * @throws AppError ServiceUnavailableError while runs cannot be stored.
 */
export async function queueItem(
  deps: ExecuteDeps,
  { conversation, prompt, start }: ItemRun,
): Promise<'queued' | 'exists' | 'full'> {
  const { uuid: conversationUuid, workspaceId, via, createdAt } = conversation
  const run = { uuid: randomUUID(), conversationUuid, workspaceId, epoch: 1, firstEventId: 1, via, createdAt }
  const { apiKeyId } = start
  if (!(await deps.runs.queue.reserve(run.uuid, apiKeyId))) return 'full'
  deps.runs.eventLog.expect(run.uuid)
  let isStored = false
  try {
    const row = { ...run, ...start, mode: 'background' as const, input: prompt }
    isStored = await deps.runs.store.create(conversation, row, claimOf(conversationUuid))
  } finally {
    if (!isStored) {
      deps.runs.queue.remove(run.uuid)
      deps.runs.eventLog.forget(run.uuid)
    }
  }
  if (!isStored) return 'exists'
  const queued = { conversation: startedConversation(conversation, run, 'queued'), input: JSON.stringify(prompt) }
  deps.runs.active.rememberQueued(run.uuid, queued, !deps.runs.settings.sharesDatabase)
  deps.runs.queue.add({ runUuid: run.uuid, apiKeyId })
  return 'queued'
}

/** One record per conversation. Of two processes that queue the same item, the unique id lets one insert its run. */
function claimOf(conversationUuid: string) {
  return { id: createHash('sha256').update(`item\n${conversationUuid}`).digest('hex'), requestHash: '' }
}
