import { setTimeout as pause } from 'node:timers/promises'
import { refuse } from '../../shared/app-error.ts'
import { loggedRun, storedReader } from '../runs/events/stored-events.ts'
import { framesOf, releasedAfter, runResult, type StartedRun } from '../runs/events/watch-run.ts'
import type { RunLogReader, StoredConversation } from '../runs/ports.ts'
import type { RunResult } from '../runs/run.ts'
import {
  type AttachAddress,
  type FindDeps,
  findAttached,
  findRun,
  findRunByUuid,
  isActive,
  type RunAddress,
} from './find-conversation.ts'
import { followElsewhere, storedLogOf } from './follow-elsewhere.ts'

/**
 * The caller counts as a reader immediately. @param afterId skips events up to this id; 0 = all events of the run.
 * @throws AppError NotFoundError; ServiceUnavailableError if the run is active, but its events are not available.
 */
export async function attachStream(
  deps: FindDeps,
  { afterId, ...address }: AttachAddress & { afterId: number },
): Promise<Pick<StartedRun, 'conversationUuid' | 'frames'>> {
  const { conversation, reader } = await follow(deps, address, afterId)
  return { conversationUuid: conversation.uuid, frames: (addFrame) => framesOf(reader, addFrame) }
}

/**
 * @throws the errors of `attachStream`; AppError if the client disconnects or the run's end was not stored; RunError if
 * the run failed, with `details.conversationUuid`.
 */
export async function attachResult(deps: FindDeps, address: AttachAddress, signal: AbortSignal): Promise<RunResult> {
  for (;;) {
    const { conversation, reader } = await follow(deps, address, Number.MAX_SAFE_INTEGER)
    await untilEnd(reader, signal)
    const ended = await findAttached(deps, address)
    if (!isActive(ended)) return runResult(ended)
    // If a newer chat has become the latest run, the loop follows that run.
    if (ended.latestRun?.uuid === conversation.latestRun?.uuid) throw refuse('run-not-stored')
  }
}

/** @throws AppError if the caller disconnects first. */
async function untilEnd(reader: RunLogReader, signal: AbortSignal): Promise<void> {
  const ended = async () => {
    while (!reader.isAtEnd() && !signal.aborted) await reader.changed()
  }
  await releasedAfter(reader, ended(), signal)
  if (signal.aborted) throw refuse('client-disconnected')
}

async function follow(
  deps: FindDeps,
  address: AttachAddress,
  afterId: number,
): Promise<{ conversation: StoredConversation; reader: RunLogReader }> {
  // The live event log can disappear between the two reads. The second attempt then finds the stored event log.
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const conversation = await findAttached(deps, address)
    const reader = await readerOf(deps, conversation, afterId)
    if (reader) return { conversation, reader }
  }
  throw refuse('run-out-of-reach', { retryAfter: 1 })
}

async function readerOf(
  deps: FindDeps,
  conversation: StoredConversation,
  afterId: number,
): Promise<RunLogReader | undefined> {
  const { codec, eventLog } = deps.runs
  const run = conversation.latestRun ?? loggedRun(conversation)
  const live = eventLog.follow(run.uuid, afterId)
  if (live) return live
  if (isActive(conversation)) {
    const { workspaceId } = conversation
    return followElsewhere(deps, { workspaceId, runUuid: run.uuid, afterId })
  }
  const log = await storedLogOf(deps, conversation, run)
  return log && storedReader(codec, log, afterId)
}

const lookAgainMs = 250

/**
 * Follows a run to its end. If its events are not available, waits until the run has ended.
 * @param signal aborted when the caller disconnects. @throws AppError NotFoundError, or if the caller disconnects.
 */
export async function joinRun(
  deps: FindDeps,
  { mode, ...address }: RunAddress & { mode: 'json' | 'stream' },
  signal: AbortSignal,
): Promise<StartedRun> {
  // In JSON mode, the reader skips all events.
  const reader = await followRun(deps, address, mode === 'stream' ? 0 : Number.MAX_SAFE_INTEGER, signal)
  return {
    conversationUuid: address.conversationUuid,
    runUuid: address.runUuid,
    committed: Promise.resolve(),
    frames: (addFrame) => framesOf(reader, addFrame),
    release: reader.release,
    async result() {
      await untilEnd(reader, signal)
      const conversation = await findRun(deps, address)
      if (isActive(conversation)) throw refuse('run-not-stored')
      return runResult(conversation)
    },
  }
}

/**
 * Follows a run from its first event, for a caller who has only the uuid of the run. Returns null if a stream is asked for and the
 * run's events were dropped. @throws the errors of `findRunByUuid` and `joinRun`.
 */
export async function attachRun(
  deps: FindDeps,
  { caller, runUuid, mode }: Pick<RunAddress, 'caller' | 'runUuid'> & { mode: 'json' | 'stream' },
  signal: AbortSignal,
): Promise<StartedRun | null> {
  const found = await findRunByUuid(deps, { caller, runUuid })
  const { uuid: conversationUuid, workspaceId, latestRun } = found
  if (!latestRun) return null
  const isKept = isActive(found) || (await deps.runs.storedLogs.open(workspaceId, latestRun.uuid)) !== null
  if (mode === 'stream' && !isKept) return null
  return joinRun(deps, { caller, conversationUuid, runUuid: latestRun.uuid, mode }, signal)
}

async function followRun(
  deps: FindDeps,
  address: RunAddress,
  afterId: number,
  signal: AbortSignal,
): Promise<RunLogReader> {
  for (;;) {
    const reader = await readerOf(deps, await findRun(deps, address), afterId)
    if (reader) return reader
    if (signal.aborted) throw refuse('client-disconnected')
    await pause(lookAgainMs)
  }
}
