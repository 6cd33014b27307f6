/** Watches a run: its result as one answer, or its frames by cursor. A watcher counts as a reader until it is released. */

import { RunError } from '../../../shared/app-error.ts'
import { endOfPart } from '../../../shared/json-pieces.ts'
import type { Usage } from '../../providers/usage.ts'
import type { Message, ToolCall } from '../../templates/message.ts'
import type { EventCodec, MessageForm, RunLogReader, StoredConversation, StoredRunResult } from '../ports.ts'
import { type RunResult, type RunSource, resolveSlice, type StepResponse } from '../run.ts'
import type { SupervisedRun } from '../supervise-run.ts'

/** The frames of a run for one reader. Readers pull, so a slow one delays only itself. */
export interface RunFrames {
  /** The next part, as text or UTF-8. It may end inside a frame or a character. Empty if there is nothing yet. */
  take(): string | Buffer
  /** Part of a frame may have been taken: nothing else may be written before the rest. */
  hasMore(): boolean
  /** Resolves when there is more, at the end of the run, or after `release`. */
  changed(): Promise<void>
  /** Calls `hear` whenever there is more and at the end of the run. `hear` must not block. */
  listen(hear: () => void): void
  /** Everything was taken, and the log has ended. */
  isAtEnd(): boolean
  /** The run waits for a tool result. Published clients stop reading while they produce it. */
  isCallerAwaited(): boolean
  release(): void
}

/** A run in progress. It is watched once: by `result` or by `frames`. */
export interface StartedRun {
  conversationUuid: string
  /** Resolves when the run is stored. No answer names the run before that. @throws AppError InternalServerError */
  committed: Promise<unknown>
  /**
   * Waits for the end. @param signal aborted when the caller disconnects.
   * @throws RunError with `details.conversationUuid`; AppError InternalServerError when no end could be stored.
   */
  result(signal?: AbortSignal): Promise<RunResult>
  frames(form: MessageForm): RunFrames
}

// Large enough to save writes, small enough to hold for a slow reader.
const batchEntries = 256
const batchCharacters = 65_536
// Progress is observed per part, and a slow reader must be seen to progress.
const partBytes = 262_144

export function watchRun(run: SupervisedRun, source: RunSource): StartedRun {
  const { conversationUuid, committed, reader } = run
  return {
    conversationUuid,
    committed,
    frames: (form) => framesOf(run.progress.codec, reader, form),
    async result(signal) {
      const leave = () => reader.release()
      signal?.addEventListener('abort', leave, { once: true })
      if (signal?.aborted === true) leave()
      try {
        const ending = await run.ending
        if ('failure' in ending) throw failureOf(conversationUuid, ending.failure)
        const { messages, spending } = run.progress
        const { answer, toolRequests } = ending.completion
        const { tokenUsage, cost } = spending
        const { response } = answer
        return runResult({ uuid: conversationUuid, source, messages, response, toolRequests, tokenUsage, cost })
      } finally {
        signal?.removeEventListener('abort', leave)
        reader.release()
      }
    },
  }
}

export function framesOf(codec: EventCodec, reader: RunLogReader, form: MessageForm): RunFrames {
  /** Taken from the log and not returned yet: from `offset` of the piece at `place`. */
  let pieces: (string | Buffer)[] = []
  let place = 0
  let offset = 0

  const refill = (limit: number): boolean => {
    if (place < pieces.length) return true
    pieces = []
    place = 0
    const entries = reader.take(limit)
    for (const entry of entries) codec.addFrame(pieces, entry, reader.messages, form)
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
    hasMore() {
      return place < pieces.length
    },
    changed: () => (place < pieces.length ? Promise.resolve() : reader.changed()),
    listen: (hear) => reader.listen(hear),
    isAtEnd() {
      return reader.isAtEnd() && place >= pieces.length
    },
    isCallerAwaited() {
      return reader.isCallerAwaited()
    },
    release: () => reader.release(),
  }
}

interface Outcome {
  uuid: string
  source: RunSource
  messages: readonly Message[]
  response: StepResponse
  toolRequests: ToolCall[]
  tokenUsage: Usage
  cost: number
}

function runResult({ uuid, source, messages, response, ...sums }: Outcome): RunResult {
  const { documentUuid, versionUuid } = source
  const { input, output, ...plain } = response
  const slices = { input: resolveSlice(input, messages), output: resolveSlice(output, messages) }
  return {
    uuid,
    conversation: [...messages],
    response: { ...plain, ...slices },
    toolRequests: sums.toolRequests,
    source: { documentUuid, versionUuid },
    tokenUsage: sums.tokenUsage,
    cost: sums.cost,
  }
}

/** The run's failure, with the conversation in its details. */
function failureOf(conversationUuid: string, failure: Pick<RunError, 'code' | 'message' | 'details'>): RunError {
  const { code, message, details } = failure
  return new RunError(code, message, { details: { ...details, conversationUuid }, cause: failure })
}

/** @throws RunError of a run that failed. */
export function storedRunResult(conversation: StoredConversation, result: StoredRunResult): RunResult {
  const { uuid, messages } = conversation
  const { response, toolRequests, tokenUsage, cost, error } = result
  if (error) throw failureOf(uuid, error)
  if (!response) throw new RunError('unknown_error', 'The run left no response')
  return runResult({ uuid, source: conversation, messages, response, toolRequests, tokenUsage, cost })
}
