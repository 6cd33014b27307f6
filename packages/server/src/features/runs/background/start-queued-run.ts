/** Starts a run from the queue, at most once, and stays with it to its end. A stop that came before ends it unstarted. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../../shared/app-error.ts'
import { type DriveDeps, driveRun } from '../drive-run.ts'
import { endQueued } from '../driving/end-undriven.ts'
import { type PromptInput, planOf } from '../execution/prompt-input.ts'
import { createRunProgress } from '../execution/run-progress.ts'
import type { NewRun, StoredConversation } from '../ports.ts'
import { runState, type StartDeps } from '../start-run.ts'

const retryMs = 500

/** Resolves when the run has left this process. @throws AppError ServiceUnavailableError: the run is queued still. */
export async function startQueuedRun(deps: StartDeps, runUuid: string): Promise<void> {
  const known = deps.activeRuns.takeQueued(runUuid)
  if (known && (await driveQueued(deps, known.conversation, JSON.parse(known.input) as PromptInput))) return
  const found = await deps.runs.findQueued(runUuid)
  const queued = found?.conversation.latestRun
  if (!queued) return deps.eventLog.forget(runUuid)
  if (queued.stopRequestedAt) await endQueued(deps, found.conversation, queued)
  else await driveQueued(deps, found.conversation, found.input)
}

/** False when the run could not be claimed: it is queued no more, or a stop was requested. */
async function driveQueued(deps: StartDeps, conversation: StoredConversation, input: PromptInput): Promise<boolean> {
  const { latestRun: queued } = conversation
  if (!queued) return false
  const { uuid: runUuid, firstEventId, createdAt } = queued
  const { uuid: conversationUuid, workspaceId } = conversation
  const epoch = queued.epoch + 1
  const ownerId = deps.runSettings.instanceId
  const run = { uuid: runUuid, conversationUuid, workspaceId, ownerId, epoch, firstEventId, createdAt }
  if (!(await claimQueued(deps, run))) return false
  const latestRun = runState(run)
  const driven = driveRun(deps, {
    conversation: { ...conversation, status: 'running', epoch, latestRun },
    run,
    stored: Promise.resolve(),
    progress: createRunProgress([]),
    plan: planOf(deps, input, { runUuid, stream: true }),
    isBackground: true,
  })
  driven.reader.release()
  // Its failure was logged, and stands in its end.
  await driven.ending.catch(() => undefined)
  return true
}

// An answer that got lost may have claimed the run: the same claim is repeated, which then finds its own.
async function claimQueued(deps: DriveDeps, run: NewRun): Promise<boolean> {
  const giveUpAt = performance.now() + deps.runSettings.storeWaitMs
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await deps.runs.startQueued(run, isRepeat)
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'ServiceUnavailableError'
      if (!isAway || performance.now() >= giveUpAt) {
        deps.activeRuns.abandon({ ...run, runUuid: run.uuid })
        throw error
      }
      await pause(retryMs)
    }
  }
}
