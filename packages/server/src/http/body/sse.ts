/** Streams a run's frames to one response. A slow reader delays only itself. */
import type { ServerResponse } from 'node:http'
import type { Response } from 'express'
import type { RunFrames, StartedRun } from '../../features/runs/events/watch-run.ts'
import type { AddFrame } from '../../features/runs/ports.ts'
import type { RunResult } from '../../features/runs/run.ts'
import type { Logger } from '../../shared/telemetry.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { StreamLimit } from '../rate-limit/rate-limit.ts'
import { RawResponse } from '../raw-response.ts'
import { failureFields } from './error-response.ts'

/**
 * Every `beatMs`, a check pings the streams that were silent for `silentMs`. At most 15 s pass without a byte, unless
 * the reader stalls.
 */
const beatMs = 5_000
const silentMs = 10_000
/** A reader that stalls for this long is disconnected. The reader can resume from its last event id. */
const stalledMs = 300_000

/** Has no blank line at the end, because some parsers would emit an extra event after an event with an id. */
const ping = ': ping\n'

export type StreamedRun = Pick<StartedRun, 'conversationUuid' | 'frames'>

interface OpenStream {
  res: ServerResponse
  frames: RunFrames
  logger: Logger
  lastByteAt: number
  /** Set while the socket's buffer is full. */
  stalledSince: number | undefined
  /** Already wrote this tick; later frames are coalesced into one write. */
  isHeld: boolean
}

// One timer for all streams of the process. It runs only while a stream is open.
const open = new Set<OpenStream>()
let heartbeat: NodeJS.Timeout | undefined

function track(stream: OpenStream): void {
  open.add(stream)
  heartbeat ??= setInterval(beat, beatMs).unref()
}

function untrack(stream: OpenStream): void {
  open.delete(stream)
  if (open.size > 0) return
  clearInterval(heartbeat)
  heartbeat = undefined
}

function beat(): void {
  for (const stream of open) orClose(stream, lookAfter)
}

function lookAfter(stream: OpenStream): void {
  const now = performance.now()
  if (stream.stalledSince !== undefined) {
    // A caller may stop reading while it computes a tool result, so the timeout starts over until the result arrives.
    if (stream.frames.isCallerAwaited()) stream.stalledSince = now
    else if (now - stream.stalledSince >= stalledMs) stream.res.destroy()
  } else if (now - stream.lastByteAt >= silentMs && !stream.frames.hasMore()) {
    stream.res.write(ping)
    stream.lastByteAt = now
  }
}

/**
 * Marks the response as one that waits for a run, and counts a stream against the key's limit.
 * @throws AppError RateLimitError above the key's stream limit.
 */
export function followRun(
  { drain, streams }: Pick<HttpDeps, 'drain'> & { streams: StreamLimit },
  res: Response,
  isStream: boolean,
): void {
  drain.followRun(res)
  if (isStream) streams.enter(callerOf(res), res)
}

/** The response names the conversation. So does an error response, if the run was stored. */
export async function resultOf(res: Response, run: StartedRun): Promise<RunResult> {
  const { conversationUuid, committed } = run
  try {
    const result = await run.result(whileOpen(res))
    res.setHeader('X-Conversation-Uuid', conversationUuid)
    return result
  } catch (failure) {
    await committed.then(
      () => void res.setHeader('X-Conversation-Uuid', conversationUuid),
      () => undefined,
    )
    throw failure
  }
}

export function streamOf(run: StreamedRun, addFrame: AddFrame, { logger }: Pick<HttpDeps, 'logger'>): RawResponse {
  return new RawResponse((response) => {
    // A stream may stay open for a long time, so this frees the router's chain and the parsed body.
    Object.assign(response.req, { next: undefined, body: undefined })
    writeRunStream(response, run, { addFrame, logger })
  })
}

/** Sends the headers immediately. A later failure to write can only close the connection. */
function writeRunStream(
  res: ServerResponse,
  run: StreamedRun,
  { addFrame, logger }: { addFrame: AddFrame; logger: Logger },
): void {
  res.statusCode = 200
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
  res.setHeader('Cache-Control', 'no-cache, no-transform')
  res.setHeader('X-Accel-Buffering', 'no')
  res.setHeader('X-Conversation-Uuid', run.conversationUuid)
  res.socket?.setNoDelay(true)
  res.flushHeaders()
  const frames = run.frames(addFrame)
  const lastByteAt = performance.now()
  const stream = { res, frames, logger, lastByteAt, stalledSince: undefined, isHeld: false }
  res.once('close', () => leave(stream))
  // A reset connection can emit an error. Without a listener, the error would end the process.
  res.on('error', () => leave(stream))
  if (isGone(res)) {
    leave(stream)
    return
  }
  track(stream)
  frames.listen(() => advance(stream))
  advance(stream)
}

function leave(stream: OpenStream): void {
  untrack(stream)
  stream.frames.release()
}

/** Writes the available frames. Also called synchronously when the run appends events or ends. */
function advance(stream: OpenStream): void {
  orClose(stream, writeNext)
}

/** Closes a failing stream without affecting its run or other streams. */
function orClose(stream: OpenStream, work: (stream: OpenStream) => void): void {
  try {
    work(stream)
  } catch (error) {
    stream.logger.error('http.stream-failed', failureFields(error))
    stream.res.destroy()
  }
}

function writeNext(stream: OpenStream): void {
  const { res, frames } = stream
  if (stream.isHeld || stream.stalledSince !== undefined || isGone(res)) return
  const taken = frames.take()
  if (taken.length > 0) send(stream, taken)
  else if (frames.isAtEnd()) {
    leave(stream)
    res.end()
  }
}

function isGone(res: ServerResponse): boolean {
  return res.closed || res.destroyed
}

function send(stream: OpenStream, part: string | Buffer): void {
  const isTaken = stream.res.write(part)
  const now = performance.now()
  stream.lastByteAt = now
  if (isTaken) {
    hold(stream)
    return
  }
  stream.stalledSince = now
  stream.res.once('drain', () => {
    stream.stalledSince = undefined
    advance(stream)
  })
}

// Streams that have written in this tick. `releaseHeld` writes their later frames.
let held: OpenStream[] = []

function hold(stream: OpenStream): void {
  stream.isHeld = true
  if (held.push(stream) === 1) setImmediate(releaseHeld)
}

function releaseHeld(): void {
  const released = held
  held = []
  for (const stream of released) {
    stream.isHeld = false
    advance(stream)
  }
}
