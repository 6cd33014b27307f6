import type { StopResult } from '@stet/contract/vocabulary'
import { afterListening } from '../../shared/clock.ts'
import type { Needs } from '../deps.ts'
import { endQueued } from '../runs/leases/end-orphaned.ts'
import type { RunLogReader, StoredConversation } from '../runs/ports.ts'
import {
  type ConversationAddress,
  type FindDeps,
  findConversation,
  findRunByUuid,
  isActive,
  type RunAddress,
} from './find-conversation.ts'
import { followElsewhere } from './follow-elsewhere.ts'

export type StopDeps = FindDeps & Needs<'runs' | 'clock'>

/** Coarse on purpose: every tick drifts when the event loop is busy. */
const tickMs = 500

/** Idempotent: an ended conversation stays unchanged. @throws AppError NotFoundError. */
export async function stopConversation(deps: StopDeps, address: ConversationAddress): Promise<StopResult> {
  const found = await findConversation(deps, address)
  return stopFound(deps, found, () => findConversation(deps, address))
}

/** Idempotent: an ended run, and the conversation's other runs, stay unchanged. @throws AppError NotFoundError. */
export async function stopRun(deps: StopDeps, address: Pick<RunAddress, 'caller' | 'runUuid'>): Promise<StopResult> {
  const found = await findRunByUuid(deps, address)
  return stopFound(deps, found, () => findRunByUuid(deps, address))
}

/** @param findAgain reads the same run after its end. */
export async function stopFound(
  deps: StopDeps,
  found: StoredConversation,
  findAgain: () => Promise<StoredConversation>,
): Promise<StopResult> {
  const { uuid, latestRun } = found
  if (!latestRun || !isActive(found)) return { uuid, stopped: false, status: found.status }
  const isFirst = await deps.runs.store.requestStop(found.workspaceId, latestRun.uuid)
  if (found.status === 'queued' && (await endQueued(deps, found, latestRun))) {
    deps.runs.queue.remove(latestRun.uuid)
    return { uuid, stopped: isFirst, status: 'stopped' }
  }
  deps.runs.signals.stop(latestRun.uuid)
  await untilEnded(deps, found, latestRun.uuid)
  const { status } = await findAgain()
  return { uuid, stopped: isFirst && status !== 'completed' && status !== 'error', status }
}

async function untilEnded(deps: StopDeps, found: StoredConversation, runUuid: string): Promise<void> {
  const active = deps.runs.active.find(found.workspaceId, found.uuid)
  const reader = active ? undefined : readerOf(deps, found.workspaceId, runUuid)
  let isOver = false
  await new Promise<void>((resolve, reject) => {
    const stopTimer = afterListening(deps.runs.settings.stopWaitMs, resolve, tickMs)
    const ended = async () => {
      if (active) await active.ended
      // After a release, `changed` resolves immediately, so the loop also checks `isOver`.
      while (reader && !isOver && !reader.isAtEnd()) await reader.changed()
      stopTimer()
    }
    ended().then(resolve, reject)
  })
  isOver = true
  reader?.release()
}

function readerOf(deps: StopDeps, workspaceId: number, runUuid: string): RunLogReader | undefined {
  const afterId = Number.MAX_SAFE_INTEGER
  return deps.runs.eventLog.follow(runUuid, afterId) ?? followElsewhere(deps, { workspaceId, runUuid, afterId })
}
