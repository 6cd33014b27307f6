import { RunError } from '../../../shared/app-error.ts'
import { endOfPart } from '../../../shared/json-limits.ts'
import type { AddFrame, RunLogReader, StoredConversation } from '../ports.ts'
import { type RunResult, resolveSlice } from '../run.ts'
import { resultOfLog } from './stored-events.ts'

/** A run's frames for one reader. Counts as a reader of the run until `release`. A slow reader delays only itself. */
export interface RunFrames extends Pick<RunLogReader, 'listen' | 'isAtEnd' | 'isCallerAwaited' | 'release'> {
  /** Returns the next part; empty if nothing is new. A part may end inside a frame, and a Buffer inside a character. */
  take(): string | Buffer
  /** True if the last part may end inside a frame. The next part must then be written first. */
  hasMore(): boolean
}

export interface SupervisedRun {
  conversationUuid: string
  runUuid: string
  committed: Promise<unknown>
  /** Already counts as a reader of the run. The receiver must release this reader. */
  reader: RunLogReader
  /** The ended conversation, once readers can read the terminal event. Rejects if the end was not stored. */
  ending: Promise<StoredConversation>
}

/** A run in progress. Use either `result`, `frames` or `release`, once. `frames` may also be read until `result` resolves. */
export interface StartedRun {
  conversationUuid: string
  runUuid: string
  /** Resolves when the run is stored. Only then may a response name the run. @throws AppError InternalServerError */
  committed: Promise<unknown>
  /** @throws RunError with `details.conversationUuid`; AppError InternalServerError if the end was not stored. */
  result(signal?: AbortSignal): Promise<RunResult>
  /** @param addFrame writes frames in the form that the reader needs. */
  frames(addFrame: AddFrame): RunFrames
  /** Leaves a background run, which goes on without a reader. */
  release(): void
}

// Batches are large enough to save writes and small enough to keep in memory for a slow reader.
const batchEntries = 256
const batchCharacters = 65_536
// A slow reader must receive each part before the stream counts as stalled, so parts are small.
const partBytes = 262_144

export function watchRun({ conversationUuid, runUuid, committed, reader, ending }: SupervisedRun): StartedRun {
  return {
    conversationUuid,
    runUuid,
    committed,
    frames: (addFrame) => framesOf(reader, addFrame),
    release: reader.release,
    result: async (signal) => runResult(await releasedAfter(reader, ending, signal)),
  }
}

/** Releases the reader when `work` settles, or when the caller disconnects. */
export async function releasedAfter<T>(reader: RunLogReader, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const { release } = reader
  signal?.addEventListener('abort', release, { once: true })
  if (signal?.aborted === true) release()
  try {
    return await work
  } finally {
    signal?.removeEventListener('abort', release)
    release()
  }
}

export function framesOf(reader: RunLogReader, addFrame: AddFrame): RunFrames {
  /** Pieces taken from the event log. The unreturned rest starts at `offset` in the piece at `place`. */
  let pieces: (string | Buffer)[] = []
  let place = 0
  let offset = 0

  const refill = (limit: number): boolean => {
    if (place < pieces.length) return true
    pieces = []
    place = 0
    const entries = reader.take(limit)
    for (const entry of entries) addFrame(pieces, entry, reader.messages)
    return entries.length > 0
  }
  const moveTo = (end: number, length: number) => {
    offset = end < length ? end : 0
    if (offset === 0) place += 1
  }
  return {
    take() {
      let text = ''
      while (text.length < batchCharacters && refill(text === '' ? 1 : batchEntries)) {
        const piece = pieces[place]
        if (piece === undefined) continue
        if (typeof piece !== 'string') {
          if (text !== '') break
          const part = piece.subarray(offset, offset + partBytes)
          moveTo(offset + part.length, piece.length)
          return part
        }
        const end = endOfPart(piece, offset, batchCharacters - text.length)
        text += offset === 0 && end === piece.length ? piece : piece.slice(offset, end)
        moveTo(end, piece.length)
      }
      return text
    },
    hasMore: () => place < pieces.length,
    listen: (listener) => reader.listen(listener),
    isAtEnd: () => reader.isAtEnd() && place >= pieces.length,
    isCallerAwaited: () => reader.isCallerAwaited(),
    release: () => reader.release(),
  }
}

/** Returns the result of the latest run. @throws RunError if the run failed. */
export function runResult(conversation: StoredConversation): RunResult {
  const { uuid, messages, documentUuid, versionUuid, latestRun } = conversation
  const { response, toolRequests, tokenUsage, cost, error } = latestRun?.result ?? resultOfLog(conversation)
  if (error) throw new RunError(error.code, error.message, { details: { ...error.details, conversationUuid: uuid } })
  if (!response) throw new RunError('unknown_error', 'The run left no response')
  const slices = { input: resolveSlice(response.input, messages), output: resolveSlice(response.output, messages) }
  return {
    uuid,
    conversation: [...messages],
    response: { ...response, ...slices },
    toolRequests,
    source: { documentUuid, versionUuid },
    tokenUsage,
    cost,
  }
}
