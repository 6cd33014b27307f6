import { ApiError, ConnectionError, StreamInterruptedError } from '../errors.ts'
import type { SdkEventData, StreamEvent } from '../events.ts'
import type { ResumeOptions } from '../options.ts'
import { retryDelayMs } from '../retry.ts'
import type { Runtime } from '../runtime.ts'
import type { Answer } from '../transport/exchange.ts'
import { type Frame, readFrames } from '../transport/sse.ts'
import type { Progress } from './result.ts'

const IDLE_TIMEOUT_MS = 45_000

export interface RunToRead {
  open: () => Promise<Answer>
  /** Attaches to the run again, after `lastEventId` or from the start. If missing, no broken stream is resumed. */
  attach:
    | ((conversationUuid: string, lastEventId: string | undefined, signal: AbortSignal) => Promise<Answer>)
    | undefined
  /** The caller of `readRun` updates the progress before it takes the next step. */
  progress: Readonly<Progress>
  /** The `lastEventId` that the run was attached with. */
  from: string | undefined
  resume: ResumeOptions
  runtime: Runtime
  idleTimeout: number | undefined
  signal: AbortSignal
}

export interface Received {
  event: StreamEvent
  /** True if the event was yielded before, so that only a terminal event has an effect. */
  isOld: boolean
}

export type RunStep =
  | { type: 'head'; head: Answer }
  /** The events of one chunk. The caller removes them, because a waiting loop keeps its last step in memory. */
  | { type: 'events'; events: Received[]; head: Answer }
  | Extract<SdkEventData, { type: 'reconnecting' | 'reconnected' }>

/**
 * Reads a run, over several connections if necessary, until the caller has the terminal event and takes no further
 * step, or the signal aborts. Yields each event once as new. @throws StreamInterruptedError
 */
export async function* readRun(run: RunToRead): AsyncGenerator<RunStep, void> {
  const { progress, from, attach, signal, idleTimeout = IDLE_TIMEOUT_MS } = run
  const { maxAttempts = 3 } = run.resume
  /** True until an event follows the caller's `lastEventId`. */
  const isJoined = () => from !== undefined && progress.lastEventId === from
  let taken = 0
  let isRejoined = isJoined()
  /**
   * Counts attempts to resume since the last event. If no event has followed the caller's `lastEventId`, the run may
   * have ended at that event. The first attempt then does not count, unless the connection was lost.
   */
  let attempts = isRejoined ? -1 : 0
  let index = 0
  // A function of its own, because a waiting generator also keeps what its variables last held.
  const receive = (frames: readonly Frame[], events: Received[]) => {
    for (const frame of frames) {
      index += 1
      const event = decode(frame)
      // A server without Last-Event-ID support replays all events. Compare ids, or positions without ids.
      const isOld = isRejoined && (event.id ? Number(event.id) <= Number(progress.lastEventId) : index <= taken)
      events.push({ event, isOld })
      if (isOld) continue
      taken += 1
      attempts = 0
    }
  }
  for (let head = await run.open(); ; isRejoined = true) {
    yield { type: 'head', head }
    const { body } = head.response
    if (!body) throw interrupted(progress, 'No body: use stream: false in this runtime')
    let broken: unknown = new Error('The stream ended before the run')
    index = 0
    try {
      for await (const frames of readFrames(body, idleTimeout, signal)) {
        const events: Received[] = []
        try {
          receive(frames, events)
        } finally {
          // If an event is not JSON, those before it count.
          yield { type: 'events', events, head }
        }
      }
    } catch (error) {
      broken = error
    }
    if (signal.aborted) return
    for (;;) {
      const { message, cause } = broken as Error
      if (cause && attempts < 0) attempts = 0
      const { conversationUuid } = progress
      if (!attach || !conversationUuid || attempts >= maxAttempts) throw interrupted(progress, message, cause ?? broken)
      attempts += 1
      if (attempts > 0) {
        const delayMs = delayOf(run, attempts, broken)
        yield { type: 'reconnecting', attempt: attempts, delayMs, cause: message }
        await run.runtime.sleep(delayMs, signal)
      }
      try {
        // If no event followed the caller's `lastEventId`, the run may have ended by then. Reload the whole run.
        head = await attach(conversationUuid, isJoined() ? undefined : progress.lastEventId, signal)
        break
      } catch (error) {
        if (!isPassing(error)) throw interrupted(progress, `${message}, and attaching again failed (${error})`, error)
        broken = error
      }
    }
    if (attempts > 0) yield { type: 'reconnected', fromEventId: progress.lastEventId }
  }
}

export function interrupted(progress: Progress, message: string, cause?: unknown): StreamInterruptedError {
  const { conversationUuid, lastEventId, text } = progress
  return new StreamInterruptedError(message, { conversationUuid, lastEventId, partial: { text }, cause })
}

function decode({ id = '', event = 'message', data: text }: Frame): StreamEvent {
  try {
    const data: object = JSON.parse(text)
    // `Reflect.get` throws unless the data is an object. The fields are not validated: the server is trusted.
    return { id, event, type: Reflect.get(data, 'type'), data } as StreamEvent
  } catch (cause) {
    throw new Error('An event is not JSON', { cause })
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError ? error.retryable : error instanceof ConnectionError
}

function delayOf({ resume, runtime }: RunToRead, attempts: number, broken: unknown): number {
  return retryDelayMs({
    attempt: attempts - 1,
    headers: broken instanceof ApiError ? broken.headers : undefined,
    now: runtime.now(),
    random: runtime.random,
    first: resume.initialDelay,
    longest: resume.maxDelay,
  })
}
