import { RunError } from '../../../shared/app-error.ts'
import { endOfPart } from '../../../shared/json-pieces.ts'
import type { Usage } from '../../providers/usage.ts'
import type { Message, ToolCall } from '../../templates/message.ts'
import type { EventCodec, MessageForm, RunLogReader, StoredConversation, StoredRunResult } from '../ports.ts'
import { type RunResult, type RunSource, resolveSlice, type StepResponse } from '../run.ts'
import type { SupervisedRun } from '../supervise-run.ts'

/** A run's frames. The caller counts as a reader until `release`. A slow reader delays only itself. */
export interface RunFrames {
  /** Returns the next part as text or UTF-8; empty if nothing is new. It may end inside a frame or a character. */
  take(): string | Buffer
  /** True if a frame is only partly taken. Nothing else may be written before its rest. */
  hasMore(): boolean
  changed(): Promise<void>
  /** Calls `hear` on new data and at the end of the run. `hear` must not block. */
  listen(hear: () => void): void
  isAtEnd(): boolean
  /** True while the run waits for a tool result. Legacy clients stop reading while they compute it. */
  isCallerAwaited(): boolean
  release(): void
}

/** A run in progress. Use either `result` or `frames`, once. */
export interface StartedRun {
  conversationUuid: string
  /** Resolves when the run is stored. Responses must not name the run earlier. @throws AppError InternalServerError */
  committed: Promise<unknown>
  /** @throws RunError with `details.conversationUuid`; AppError InternalServerError if no end could be stored. */
  result(signal?: AbortSignal): Promise<RunResult>
  frames(form: MessageForm): RunFrames
}

// Large enough to save writes, small enough to keep in memory for a slow reader.
const batchEntries = 256
const batchCharacters = 65_536
// Each part counts as progress, so parts must be small enough for a slow reader.
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
  /** Taken from the log but not returned yet, starting at `offset` of the piece at `place`. */
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

function failureOf(conversationUuid: string, failure: Pick<RunError, 'code' | 'message' | 'details'>): RunError {
  const { code, message, details } = failure
  return new RunError(code, message, { details: { ...details, conversationUuid }, cause: failure })
}

/** @throws RunError if the run failed. */
export function storedRunResult(conversation: StoredConversation, result: StoredRunResult): RunResult {
  const { uuid, messages } = conversation
  const { response, toolRequests, tokenUsage, cost, error } = result
  if (error) throw failureOf(uuid, error)
  if (!response) throw new RunError('unknown_error', 'The run left no response')
  return runResult({ uuid, source: conversation, messages, response, toolRequests, tokenUsage, cost })
}
