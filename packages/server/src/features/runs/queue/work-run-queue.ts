/** Starts every queued run. A regular sweep also finds runs that another process queued or whose start failed. */

import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Span } from '../../../shared/telemetry.ts'
import type { Needs } from '../../deps.ts'
import type { SupervisedRun } from '../events/watch-run.ts'
import type { ExecuteDeps } from '../execute-run.ts'
import { endQueued } from '../leases/end-orphaned.ts'
import type { NewRun, StoredConversation } from '../ports.ts'
import type { QueuedInput } from '../run.ts'
import { whileAway } from '../run-end.ts'
import { storedOrAbandoned } from '../start-run.ts'
import { chatPlanOf, isQueuedChat, planOf } from '../steps/run-plan.ts'
import { superviseRun } from '../supervise-run.ts'

type QueueDeps = ExecuteDeps & Needs<'tracer'>

const sweepEveryMs = 5_000

/**
 * Resolves when all stored queued runs are in the queue, in creation order, and the queue has started.
 * @param onItemEnded called after the end of each run of an experiment or a judge in this process.
 */
export async function workRunQueue(deps: QueueDeps, onItemEnded: () => void = () => {}): Promise<Repeated> {
  await enterQueued(deps)
  const starting = new Set<Promise<unknown>>()
  deps.runs.queue.work(async (runUuid) => {
    const start = startQueuedRun(deps, runUuid)
    starting.add(start)
    try {
      // `ending` rejects only if the end was not stored. The run is then already abandoned.
      const run = await start
      starting.delete(start)
      const ended = await run?.ending.catch(() => undefined)
      if (ended?.via === 'experiment' || ended?.via === 'judge') onItemEnded()
    } catch (error) {
      // If the row is still `queued`, the next sweep queues the run again.
      deps.logger.warn('run.start-failed', { runUuid, reason: error instanceof Error ? error.name : '' })
    } finally {
      starting.delete(start)
    }
  })
  const sweeping = repeat(sweepEveryMs, () =>
    enterQueued(deps).catch(() => deps.logger.warn('runs.queue-sweep-failed')),
  )
  return {
    async stop() {
      await deps.runs.queue.stop()
      await sweeping.stop()
      // Afterwards, every claimed run is an active run, so the shutdown waits for it.
      await Promise.allSettled(starting)
    },
  }
}

async function enterQueued(deps: QueueDeps): Promise<void> {
  for (const run of await deps.runs.store.listQueued()) {
    deps.runs.eventLog.expect(run.runUuid)
    deps.runs.queue.add(run)
  }
}

/**
 * Starts a queued run at most once. Returns undefined if the run cannot start here.
 * @throws AppError ServiceUnavailableError if the database is unavailable.
 */
export async function startQueuedRun(deps: QueueDeps, runUuid: string): Promise<SupervisedRun | undefined> {
  // Requests apply the drops of other servers, but a queued run starts without a request.
  await deps.liveCache.sync?.()
  const known = deps.runs.active.takeQueued(runUuid)
  const started = known && (await superviseQueued(deps, known.conversation, JSON.parse(known.input) as QueuedInput))
  if (started) return started
  const found = await deps.runs.store.findQueued(runUuid)
  const queued = found?.conversation.latestRun
  if (!queued) deps.runs.eventLog.forget(runUuid)
  else if (queued.stopRequestedAt) await endQueued(deps, found.conversation, queued)
  else return superviseQueued(deps, found.conversation, found.input)
  return undefined
}

/** Returns undefined if the run is no longer queued or a stop was requested. */
async function superviseQueued(
  deps: QueueDeps,
  conversation: StoredConversation,
  input: QueuedInput,
): Promise<SupervisedRun | undefined> {
  const { latestRun: queued, uuid: conversationUuid, workspaceId } = conversation
  if (!queued) return undefined
  const { uuid, firstEventId, createdAt } = queued
  const { via } = conversation
  const ownerId = deps.runs.settings.instanceId
  const run = { uuid, conversationUuid, workspaceId, ownerId, epoch: queued.epoch + 1, firstEventId, via, createdAt }
  const { traceparent } = input
  const span =
    traceparent === undefined ? undefined : deps.tracer.start('queued run', { traceparent, role: 'internal' })
  const isClaimed = await claimQueued(deps, run, span).catch((error: unknown) => {
    span?.end('not_claimed')
    throw error
  })
  if (!isClaimed) {
    span?.end('not_claimed')
    return undefined
  }
  // Another process may have queued the run, and its clock may be ahead.
  deps.runs.metrics.runDequeued(Math.max(0, deps.clock.now().getTime() - createdAt.getTime()) / 1000)
  const own = { runUuid: uuid, stream: true }
  const start = { conversation, run, mode: 'background' as const, span }
  const { messages } = conversation
  const supervised = isQueuedChat(input)
    ? superviseRun(deps, { ...start, messages, plan: chatPlanOf(conversation, messages, input, own) })
    : superviseRun(deps, { ...start, plan: planOf(deps, input, own) })
  const endSpan = () => span?.end()
  supervised.ending.then(endSpan, endSpan)
  supervised.reader.release()
  return supervised
}

// If the response to a claim was lost, this process may already own the run. A repeated claim then succeeds.
function claimQueued(deps: QueueDeps, run: NewRun, span: Span | undefined): Promise<boolean> {
  const claim = (isRepeat: boolean) => deps.runs.store.startQueued(run, isRepeat, span)
  return storedOrAbandoned(
    deps,
    run,
    whileAway(deps, claim(false), () => claim(true)),
  )
}
