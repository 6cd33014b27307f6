/** Joins the run that an earlier request with the same idempotency key started: its events from the first, or its end. */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../shared/app-error.ts'
import type { RunLogReader, StoredConversation } from '../runs/ports.ts'
import { storedRunResult } from '../runs/watching/run-result.ts'
import { framesOf, type StartedRun } from '../runs/watching/watch-run.ts'
import { type AttachDeps, isActive, readerOf, untilEnd } from './attach-conversation.ts'
import { findRun, type RunAddress } from './find-conversation.ts'

const lookAgainMs = 250

/**
 * Listens from now on. A run that another process drives is waited for: its events are there when it has ended.
 * @param mode `stream` for the frames, `json` for the result.
 * @param signal the caller has left.
 * @throws AppError NotFoundError.
 */
export async function joinRun(
  deps: AttachDeps,
  { mode, ...address }: RunAddress & { mode: 'json' | 'stream' },
  signal: AbortSignal,
): Promise<StartedRun> {
  // Who waits for the end takes no events: it must find none on its way.
  const reader = await followRun(deps, address, mode === 'stream' ? 0 : Number.MAX_SAFE_INTEGER, signal)
  return {
    conversationUuid: address.conversationUuid,
    committed: Promise.resolve(),
    frames: (form) => framesOf(reader, form),
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

// Nobody is left to be answered.
function hasLeft(): AppError {
  return new AppError('ServiceUnavailableError', 'The caller has left')
}

function resultOf(conversation: StoredConversation) {
  const result = conversation.latestRun?.result
  if (isActive(conversation) || !result) {
    throw new AppError('InternalServerError', 'The end of the run could not be stored')
  }
  return storedRunResult(conversation, result)
}
