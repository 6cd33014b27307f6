import { ApiError, ConnectionError } from '../errors.ts'
import type { ResumeOptions } from '../options.ts'
import type { Runtime } from '../runtime.ts'
import type { Answer } from '../transport/exchange.ts'
import { retryDelayMs } from '../transport/retry.ts'
import { type Frame, readFrames } from '../transport/sse.ts'

// After the terminal event, the server closes the stream. Wait for the close, so that the connection can be reused.
const FAREWELL_MS = 1000
const IDLE_TIMEOUT_MS = 45_000

export interface RunToRead {
  open: () => Promise<Answer>
  isJoined: boolean
  attach: () => (() => Promise<Answer>) | undefined
  resume: ResumeOptions
  runtime: Runtime
  idleTimeout: number | undefined
  signal: AbortSignal
  /** True after the terminal event, and after the stream was aborted or detached. */
  isOver: () => boolean
  lastEventId: () => string | undefined
  onHead: (head: Answer) => void
  /**
   * Processes a frame. With `isOld`, the frame was processed before, so only a terminal event has an effect.
   * @throws SyntaxError if the data is not a JSON object
   */
  onFrame: (frame: Frame, head: Answer, isOld: boolean) => void
  onReconnecting: (about: { attempt: number; delayMs: number; cause: string }) => void
  onReconnected: () => void
  lost: (message: string, cause?: unknown) => Error
}

/** Reads a run to its terminal event, over several connections if necessary. Processes each event once. */
export async function readRun(run: RunToRead): Promise<void> {
  const { isOver, lastEventId, lost, idleTimeout = IDLE_TIMEOUT_MS } = run
  let taken = 0
  let isRejoined = run.isJoined
  /**
   * Counts attempts to resume since the last event. If no event has followed the caller's `lastEventId`, the run may
   * have ended at that event. The first attempt then does not count, unless the connection was lost.
   */
  let attempts = isRejoined ? -1 : 0

  /** A server without Last-Event-ID support replays all events. Compares ids, or positions if events have no ids. */
  function isOld({ id }: Frame, index: number): boolean {
    return id ? Number(id) <= Number(lastEventId()) : index <= taken
  }

  /** Returns why the connection ended. */
  async function read(head: Answer): Promise<Error> {
    const { body } = head.response
    run.onHead(head)
    if (!body) throw lost('No body: use stream: false in this runtime')
    let index = 0
    const onFrame = (frame: Frame) => {
      index += 1
      if (isOver()) return
      const isSeen = isRejoined && isOld(frame, index)
      run.onFrame(frame, head, isSeen)
      if (isSeen) return
      taken += 1
      attempts = 0
    }
    const idleMs = () => (isOver() ? FAREWELL_MS : idleTimeout)
    try {
      const isIdle = await readFrames(body, { onFrame, idleMs, signal: run.signal })
      return new Error(isIdle ? `Nothing arrived for ${idleTimeout} ms` : 'The stream ended before the run')
    } catch (cause) {
      const isNoJson = cause instanceof SyntaxError
      return new Error(isNoJson ? 'An event is not JSON' : 'The connection was lost', { cause })
    }
  }

  for (let head = await run.open(); ; isRejoined = true) {
    let broken: unknown = await read(head)
    if (isOver()) return
    for (;;) {
      const { maxAttempts = 3 } = run.resume
      const { message, cause } = broken as Error
      if (cause && attempts < 0) attempts = 0
      const attach = run.attach()
      if (!attach || attempts >= maxAttempts) throw lost(message, cause ?? broken)
      attempts += 1
      if (attempts > 0) {
        const delayMs = delayOf(run, attempts, broken)
        run.onReconnecting({ attempt: attempts, delayMs, cause: message })
        await run.runtime.sleep(delayMs, run.signal)
      }
      try {
        head = await attach()
        break
      } catch (error) {
        if (!isPassing(error)) throw lost(`${message}, and attaching again failed (${error})`, error)
        broken = error
      }
    }
    if (attempts > 0) run.onReconnected()
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
