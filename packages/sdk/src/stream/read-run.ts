import { ApiError, ConnectionError } from '../errors.ts'
import type { ResumeOptions } from '../options.ts'
import type { Runtime } from '../runtime.ts'
import type { Answer } from '../transport/exchange.ts'
import { retryDelayMs } from '../transport/retry.ts'
import { type Frame, readFrames } from '../transport/sse.ts'

// The server closes the connection after the terminal event. Waiting for that keeps it for the next request.
const FAREWELL_MS = 1000
const IDLE_TIMEOUT_MS = 45_000

/** One run to read. */
export interface RunToRead {
  open: () => Promise<Answer>
  /** Whether reading starts after an event that the caller named. */
  isJoined: boolean
  /** Attaches to the run again; undefined if that is impossible. */
  attach: () => (() => Promise<Answer>) | undefined
  resume: ResumeOptions
  runtime: Runtime
  /** Milliseconds, 45_000 */
  idleTimeout: number | undefined
  signal: AbortSignal
  /** Whether reading is finished: the terminal event arrived, or the reader left. */
  isOver: () => boolean
  /** The id of the last processed event. */
  lastEventId: () => string | undefined
  onHead: (head: Answer) => void
  /**
   * Processes a frame, or only checks one that is processed already or not needed. Throws if the connection is
   * unusable.
   */
  onFrame: (frame: Frame, head: Answer, isOld: boolean) => void
  onReconnecting: (about: { attempt: number; delayMs: number; cause: string }) => void
  onReconnected: () => void
  /** The error of a permanently lost stream. */
  lost: (message: string, cause?: unknown) => Error
}

/** Reads a run to its terminal event, over as many connections as needed. Every event is processed once. */
export async function readRun(run: RunToRead): Promise<void> {
  const { isOver, lastEventId, lost, idleTimeout = IDLE_TIMEOUT_MS } = run
  /** The number of processed frames of this run. */
  let taken = 0
  let isRejoined = run.isJoined
  /**
   * Attempts to rejoin since the last event. The first attempt is free if no event followed the one that the caller named,
   * because the run may simply have ended.
   */
  let attempts = isRejoined ? -1 : 0

  /** Servers without Last-Event-ID support replay from the first event; without ids the index decides. */
  function isOld({ id }: Frame, index: number): boolean {
    return id ? Number(id) <= Number(lastEventId()) : index <= taken
  }

  /** Reads one connection. Returns the reason of its end. */
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
