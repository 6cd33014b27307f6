/** Starts every queued run, including those of an earlier process and those whose job was lost. */

import { setTimeout as pause } from 'node:timers/promises'
import { isUnavailable } from '../../../shared/app-error.ts'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { Needs } from '../../deps.ts'
import { endQueued } from '../leases/end-orphaned.ts'
import type { NewRun, StoredConversation } from '../ports.ts'
import type { PromptInput } from '../run.ts'
import { runState, type StartDeps } from '../start-run.ts'
import { planOf } from '../steps/run-plan.ts'
import { createRunProgress } from '../steps/run-progress.ts'
import { retryMs, type SuperviseDeps, superviseRun } from '../supervise-run.ts'

type WorkDeps = StartDeps & Needs<'runs'>

const sweepEveryMs = 5_000

/** Resolves when all stored queued runs are in the queue, in creation order. */
export async function workRunQueue(deps: WorkDeps): Promise<Repeated> {
  await enterQueued(deps)
  deps.runs.queue.work((runUuid) =>
    startQueuedRun(deps, runUuid).catch((error: unknown) => {
      // The row is still queued, so the next sweep queues it again.
      deps.logger.warn('run.start-failed', { runUuid, reason: error instanceof Error ? error.name : '' })
    }),
  )
  const sweeping = repeat(sweepEveryMs, () =>
    enterQueued(deps).catch(() => deps.logger.warn('runs.queue-sweep-failed')),
  )
  return {
    async stop() {
      deps.runs.queue.stop()
      await sweeping.stop()
    },
  }
}

async function enterQueued(deps: WorkDeps): Promise<void> {
  for (const run of await deps.runs.store.listQueued()) {
    deps.runs.eventLog.expect(run.runUuid)
    deps.runs.queue.add(run)
  }
}

/** Starts a queued run at most once; resolves at its end. @throws AppError ServiceUnavailableError if still queued. */
export async function startQueuedRun(deps: StartDeps, runUuid: string): Promise<void> {
  const known = deps.runs.active.takeQueued(runUuid)
  if (known && (await superviseQueued(deps, known.conversation, JSON.parse(known.input) as PromptInput))) return
  const found = await deps.runs.store.findQueued(runUuid)
  const queued = found?.conversation.latestRun
  if (!queued) return deps.runs.eventLog.forget(runUuid)
  if (queued.stopRequestedAt) await endQueued(deps, found.conversation, queued)
  else await superviseQueued(deps, found.conversation, found.input)
}

/** Returns false if the run is no longer queued or a stop was requested. */
async function superviseQueued(
  deps: StartDeps,
  conversation: StoredConversation,
  input: PromptInput,
): Promise<boolean> {
  const { latestRun: queued } = conversation
  if (!queued) return false
  const { uuid: runUuid, firstEventId, createdAt } = queued
  const { uuid: conversationUuid, workspaceId } = conversation
  const epoch = queued.epoch + 1
  const ownerId = deps.runs.settings.instanceId
  const run = { uuid: runUuid, conversationUuid, workspaceId, ownerId, epoch, firstEventId, createdAt }
  if (!(await claimQueued(deps, run))) return false
  const latestRun = runState(run)
  const supervised = superviseRun(deps, {
    conversation: { ...conversation, status: 'running', epoch, latestRun },
    run,
    stored: Promise.resolve(),
    progress: createRunProgress(deps.runs.codec, []),
    plan: planOf(deps, input, { runUuid, stream: true }),
    isBackground: true,
  })
  supervised.reader.release()
  // The failure is already logged and stored with the run's end.
  await supervised.ending.catch(() => undefined)
  return true
}

// If the response to a claim was lost, the run may already be ours. A repeated claim recognizes it and succeeds.
async function claimQueued(deps: SuperviseDeps, run: NewRun): Promise<boolean> {
  const giveUpAt = performance.now() + deps.runs.settings.storeWaitMs
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await deps.runs.store.startQueued(run, isRepeat)
    } catch (error) {
      const isAway = isUnavailable(error)
      if (!isAway || performance.now() >= giveUpAt) {
        deps.runs.active.abandon({ ...run, runUuid: run.uuid })
        throw error
      }
      await pause(retryMs)
    }
  }
}
