/** How a run is watched: its result as one answer, or its frames by cursor. A watcher counts as a listener until it leaves. */

import { RunError } from '../../../shared/app-error.ts'
import { endOfPart } from '../../../shared/text/text-parts.ts'
import type { Usage } from '../../providers/usage.ts'
import type { Message, ToolCall } from '../../templates/message.ts'
import { addFrame, type MessageForm } from '../encoding/frames.ts'
import { resolveSlice } from '../encoding/message-list.ts'
import type { RunLogReader, StoredConversation, StoredRunResult } from '../ports.ts'
import type { RunResult, RunSource, StepResponse } from '../run.ts'
import type { DrivenRun } from '../supervise-run.ts'

/** The frames of a run for one reader; it pulls, so that a slow one delays itself only. */
export interface RunFrames {
  /** What comes next, as text or as UTF-8, which may end within a frame or a character; empty when there is nothing now. */
  take(): string | Buffer
  /** Part of a frame may have been handed on: nothing else may be written before the rest. */
  hasMore(): boolean
  /** Resolves when there is more, when the run has ended, or after `release`. */
  changed(): Promise<void>
  /** Calls `hear` from now on whenever there is more and when the run ends. Whoever hears must not hold up the run. */
  listen(hear: () => void): void
  /** Everything was taken and nothing more will come. */
  isAtEnd(): boolean
  /** The run waits for a tool result: published clients stop reading while they work on it. */
  isCallerAwaited(): boolean
  release(): void
}

/** A run that goes on by itself. It is watched once: by `result` or by `frames`. */
export interface StartedRun {
  conversationUuid: string
  /** Resolves once the run is stored: no answer may name it before. @throws AppError InternalServerError */
  committed: Promise<void>
  /**
   * Waits for the end. @param signal the caller has left: it listens no more.
   * @throws RunError with `details.conversationUuid`; AppError InternalServerError when no end could be stored.
   */
  result(signal?: AbortSignal): Promise<RunResult>
  frames(form: MessageForm): RunFrames
}

// Enough for a joined write to pay, little enough for a slow reader to hold.
const batchEntries = 256
const batchCharacters = 65_536
// Bytes are shared: a part is only as long as a reader may take without being seen to move on.
const partBytes = 262_144

export function watchRun(run: DrivenRun, source: RunSource): StartedRun {
  const { conversationUuid, committed, reader } = run
  return {
    conversationUuid,
    committed,
    frames: (form) => framesOf(reader, form),
    async result(signal) {
      const leave = () => reader.release()
      signal?.addEventListener('abort', leave, { once: true })
      if (signal?.aborted === true) leave()
      try {
        return await resultOf(run, source)
      } finally {
        signal?.removeEventListener('abort', leave)
        reader.release()
      }
    },
  }
}

export function framesOf(reader: RunLogReader, form: MessageForm): RunFrames {
  /** Taken and not handed on yet: from `place` on, and of that piece from `offset` on. */
  let pieces: (string | Buffer)[] = []
  let place = 0
  let offset = 0

  const refill = (limit: number): boolean => {
    if (place < pieces.length) return true
    pieces = []
    place = 0
    const entries = reader.take(limit)
    for (const entry of entries) addFrame(pieces, entry, reader.messages, form)
    return entries.length > 0
  }
  /** What was taken of the piece ends at `end`. */
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

async function resultOf(run: DrivenRun, source: RunSource): Promise<RunResult> {
  const { conversationUuid, progress } = run
  const ending = await run.ending
  if ('failure' in ending) throw failureOf(conversationUuid, ending.failure)
  const { tokenUsage, cost } = progress.spending
  return runResult({
    uuid: conversationUuid,
    source,
    messages: progress.list.messages,
    ...ending.completion,
    tokenUsage,
    cost,
  })
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
    response: { ...plain, documentLogUuid: uuid, ...slices },
    toolRequests: sums.toolRequests,
    source: { documentUuid, versionUuid },
    tokenUsage: sums.tokenUsage,
    cost: sums.cost,
  }
}

/** The run's failure, naming its conversation. */
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
