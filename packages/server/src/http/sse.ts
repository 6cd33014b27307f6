/** Tap 2: the frames of a run -> one response. A slow reader delays itself only; one that leaves is released at once. */
import type { ServerResponse } from 'node:http'
import type { RunFrames, StartedRun } from '../features/runs/events/watch-run.ts'
import type { Logger } from '../shared/logger.ts'
import { failureFields } from './body/error-response.ts'

/** The interval of checks and the silence before a ping: at most 15 s pass without a byte. */
const beatMs = 5_000
const silentMs = 10_000
/** A reader that stalls for this long may be closed: it can resume from the last id it saw. */
const stalledMs = 300_000

/** A comment without a blank line: after an event that has an id, some parsers take a blank line for one more event. */
const ping = ': ping\n'

export type StreamedRun = Pick<StartedRun, 'conversationUuid' | 'frames'>

interface OpenStream {
  res: ServerResponse
  frames: RunFrames
  logger: Logger
  lastByteAt: number
  /** Set while the socket takes nothing. */
  stalledSince: number | undefined
  /** Has written in this tick: what else comes in it leaves as one write at its end. */
  isHeld: boolean
}

// One timer for all streams of the process, running only while there are some.
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
    // The timeout restarts once the caller has sent its result, because until then the stream is not idle.
    if (stream.frames.isCallerAwaited()) stream.stalledSince = now
    else if (now - stream.stalledSince >= stalledMs) stream.res.destroy()
  } else if (now - stream.lastByteAt >= silentMs && !stream.frames.hasMore()) {
    write(stream.res, ping)
    stream.lastByteAt = now
  }
}

/** Sends the head at once, then every frame, then closes: after the head, a failure can no longer be reported. */
export function writeRunStream(
  res: ServerResponse,
  run: StreamedRun,
  { isDeclared, logger }: { isDeclared: boolean; logger: Logger },
): void {
  res.statusCode = 200
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
  res.setHeader('Cache-Control', 'no-cache, no-transform')
  res.setHeader('X-Accel-Buffering', 'no')
  res.setHeader('X-Conversation-Uuid', run.conversationUuid)
  // Set explicitly, because chunks are framed below.
  if (res.req.httpVersion === '1.1') res.setHeader('Transfer-Encoding', 'chunked')
  res.socket?.setNoDelay(true)
  res.flushHeaders()
  const frames = run.frames(isDeclared ? 'declared' : 'whole')
  const lastByteAt = performance.now()
  const stream = { res, frames, logger, lastByteAt, stalledSince: undefined, isHeld: false }
  res.once('close', () => leave(stream))
  // A reset connection also emits an error; the `close` event that follows suffices.
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

/** Writes what there is; called whenever there may be more, and from the writer of the run itself. */
function advance(stream: OpenStream): void {
  orClose(stream, writeNext)
}

/** A failing stream is closed, without affecting its run or other streams. */
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
  const isTaken = write(stream.res, part)
  const now = performance.now()
  stream.lastByteAt = now
  if (isTaken) {
    hold(stream)
    return
  }
  stream.stalledSince = now
  onceDrained(stream.res, () => {
    stream.stalledSince = undefined
    advance(stream)
  })
}

// Shared by all streams that wrote in this tick; the first write of each is immediate.
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

/**
 * Text as one chunk of the body in one write. The response would send its length, its bytes and its end as four pieces, which
 * costs half as much again; behind its back the socket may be used once it belongs to it and the head has left. Bytes are
 * many, and go the response's way, which does not copy them.
 * @returns whether the socket takes more.
 */
function write(res: ServerResponse, text: string | Buffer): boolean {
  const { socket } = res
  if (typeof text !== 'string' || !socket || res.req.httpVersion !== '1.1') return res.write(text)
  const bytes = Buffer.byteLength(text)
  // Plain ASCII is the same bytes in both, and cheaper in this one.
  return socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, bytes === text.length ? 'latin1' : 'utf8')
}

/** @param wake not called for a response that closes: it takes nothing more. */
function onceDrained(res: ServerResponse, wake: () => void): void {
  const { socket } = res
  const end = () => {
    socket?.off('drain', drained)
    res.off('drain', drained)
    res.off('close', end)
  }
  let isWoken = false
  const drained = () => {
    end()
    // The response emits drain within the socket's drain event, which still calls a listener that was just removed.
    if (isWoken) return
    isWoken = true
    wake()
  }
  socket?.on('drain', drained)
  res.on('drain', drained)
  res.on('close', end)
}
