import { setTimeout as pause } from 'node:timers/promises'
import { type AppError, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { endOfRun, resultOfLog, storedReader } from '../runs/events/stored-events.ts'
import { framesOf, type StartedRun, storedRunResult } from '../runs/events/watch-run.ts'
import type { RunLogReader, StoredConversation } from '../runs/ports.ts'
import type { RunResult } from '../runs/run.ts'
import { type ConversationAddress, type FindDeps, findRun, findStored, type RunAddress } from './find-conversation.ts'

export type AttachDeps = FindDeps & Needs<'runs'>

export interface AttachedStream extends Pick<StartedRun, 'conversationUuid' | 'frames'> {
  release(): void
}

/**
 * The caller counts as a reader immediately. @param afterId skips events up to this id; 0 = all of the latest run.
 * @throws AppError NotFoundError; ServiceUnavailableError if another process supervises or abandoned the run.
 */
export async function attachStream(
  deps: AttachDeps,
  { afterId, ...address }: ConversationAddress & { afterId: number },
): Promise<AttachedStream> {
  const { conversation, reader } = await follow(deps, address, afterId)
  return {
    conversationUuid: conversation.uuid,
    frames: (form) => framesOf(deps.runs.codec, reader, form),
    release: () => reader.release(),
  }
}

/** @throws AppError as `attachStream`; RunError of a failed run, with `details.conversationUuid`. */
export async function attachResult(
  deps: AttachDeps,
  address: ConversationAddress,
  signal: AbortSignal,
): Promise<RunResult> {
  for (;;) {
    const { conversation, reader } = await follow(deps, address, Number.MAX_SAFE_INTEGER)
    await untilEnd(reader, signal)
    if (signal.aborted) throw refuse('client-disconnected')
    const ended = await findStored(deps, address)
    if (!isActive(ended)) return storedRunResult(ended, ended.latestRun?.result ?? resultOfLog(ended))
    // If a newer chat has become the latest run, follow that one.
    if (ended.latestRun?.uuid === conversation.latestRun?.uuid) {
      throw refuse('run-not-stored')
    }
  }
}

async function untilEnd(reader: RunLogReader, signal: AbortSignal): Promise<void> {
  const leave = () => reader.release()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    while (!reader.isAtEnd() && !signal.aborted) await reader.changed()
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

async function follow(
  deps: AttachDeps,
  address: ConversationAddress,
  afterId: number,
): Promise<{ conversation: StoredConversation; reader: RunLogReader }> {
  // The live event log can disappear between the two reads. The second attempt then finds the stored one.
  for (const isLast of [false, true]) {
    const conversation = await findStored(deps, address)
    const reader = await readerOf(deps, conversation, afterId)
    if (reader) return { conversation, reader }
    if (isLast) break
  }
  throw refuse('run-out-of-reach', { retryAfter: 1 })
}

async function readerOf(
  deps: AttachDeps,
  conversation: StoredConversation,
  afterId: number,
): Promise<RunLogReader | undefined> {
  const { latestRun, workspaceId } = conversation
  const { codec } = deps.runs
  if (!latestRun) {
    const result = resultOfLog(conversation)
    const { createdAt } = conversation
    const state = { uuid: conversation.uuid, status: 'completed', epoch: 0, stopRequestedAt: null } as const
    const run = { ...state, firstEventId: 1, lastEventId: 2, result, createdAt, endedAt: createdAt }
    return storedReader(codec, endOfRun(codec, conversation, run, result), afterId)
  }
  const live = deps.runs.eventLog.follow(latestRun.uuid, afterId)
  if (live) return live
  const { result } = latestRun
  if (isActive(conversation) || !result) return undefined
  const log = await deps.runs.storedLogs.open(workspaceId, latestRun.uuid)
  return storedReader(codec, log ?? endOfRun(codec, conversation, latestRun, result), afterId)
}

export function isActive({ status }: StoredConversation): boolean {
  return status === 'queued' || status === 'running'
}

const lookAgainMs = 250

/**
 * If another process supervises the run, its events are readable once it ends.
 * @param signal aborted when the caller disconnects. @throws AppError NotFoundError.
 */
export async function joinRun(
  deps: AttachDeps,
  { mode, ...address }: RunAddress & { mode: 'json' | 'stream' },
  signal: AbortSignal,
): Promise<StartedRun> {
  // A caller that wants the result skips all events.
  const reader = await followRun(deps, address, mode === 'stream' ? 0 : Number.MAX_SAFE_INTEGER, signal)
  return {
    conversationUuid: address.conversationUuid,
    committed: Promise.resolve(),
    frames: (form) => framesOf(deps.runs.codec, reader, form),
    async result(whileHere = signal) {
      await untilEnd(reader, whileHere)
      if (whileHere.aborted) throw hasLeft()
      return resultOf(await findRun(deps, address))
    },
  }
}

async function followRun(
  deps: AttachDeps,
  address: RunAddress,
  afterId: number,
  signal: AbortSignal,
): Promise<RunLogReader> {
  for (;;) {
    const conversation = await findRun(deps, address)
    const reader = await readerOf(deps, conversation, afterId)
    if (reader) return reader
    if (signal.aborted) throw hasLeft()
    await pause(lookAgainMs)
  }
}

function hasLeft(): AppError {
  return refuse('client-disconnected')
}

function resultOf(conversation: StoredConversation) {
  const result = conversation.latestRun?.result
  if (isActive(conversation) || !result) {
    throw refuse('run-not-stored')
  }
  return storedRunResult(conversation, result)
}
