/** Tap 2: the frames of a run -> one response. A slow reader delays itself only; one that leaves is released at once. */
import type { ServerResponse } from 'node:http'
import type { RunFrames, StartedRun } from '../features/runs/watching/watch-run.ts'

/** Streams are looked at so often, and get a ping when silent for so long: at most 15 s pass without a byte. */
const beatMs = 5_000
const silentMs = 10_000
/** A reader that takes nothing for so long may be closed: it can come back by the id it saw last. */
const stalledMs = 300_000

/** A comment without a blank line: after an event that has an id, some parsers take a blank line for one more event. */
const ping = ': ping\n'

export type StreamedRun = Pick<StartedRun, 'conversationUuid' | 'frames'>

interface OpenStream {
  res: ServerResponse
  frames: RunFrames
  lastByteAt: number
  /** Set while the socket takes nothing. */
  stalledSince: number | undefined
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
  const now = performance.now()
  for (const stream of open) {
    if (stream.stalledSince !== undefined) {
      // The time starts anew once the caller has answered: until then it is not idle.
      if (stream.frames.isCallerAwaited) stream.stalledSince = now
      else if (now - stream.stalledSince >= stalledMs) stream.res.destroy()
    } else if (now - stream.lastByteAt >= silentMs && !stream.frames.hasMore) {
      write(stream.res, ping)
      stream.lastByteAt = now
    }
  }
}

/** Sends the head at once, then every frame, then closes. Never rejects: after the head there is nobody to tell. */
export function writeRunStream(res: ServerResponse, run: StreamedRun, options: { isDeclared: boolean }): Promise<void> {
  res.statusCode = 200
  res.setHeader('Content-Type', 'text/event-stream; charset=utf-8')
  res.setHeader('Cache-Control', 'no-cache, no-transform')
  res.setHeader('X-Accel-Buffering', 'no')
  res.setHeader('X-Conversation-Uuid', run.conversationUuid)
  // Stated, so that it holds whoever asks: chunks are framed below.
  if (res.req.httpVersion === '1.1') res.setHeader('Transfer-Encoding', 'chunked')
  res.socket?.setNoDelay(true)
  res.flushHeaders()
  return pump(res, run.frames(options.isDeclared ? 'declared' : 'whole'))
}

async function pump(res: ServerResponse, frames: RunFrames): Promise<void> {
  const stream: OpenStream = { res, frames, lastByteAt: performance.now(), stalledSince: undefined }
  const leave = () => frames.release()
  res.once('close', leave)
  // A reset connection emits an error too; `close` follows and says all that matters.
  res.on('error', leave)
  track(stream)
  try {
    while (!res.closed && !res.destroyed) {
      const text = frames.take()
      if (text !== '') await send(stream, text)
      else if (frames.isAtEnd) break
      else await frames.changed()
    }
  } finally {
    untrack(stream)
    leave()
  }
  if (!res.destroyed) res.end()
}

// After a write the rest of the tick is waited for, so that what comes in it leaves as one write; the first is not held back.
async function send(stream: OpenStream, text: string): Promise<void> {
  const { res } = stream
  const isTaken = write(res, text)
  stream.lastByteAt = performance.now()
  if (isTaken) return new Promise((resolve) => setImmediate(resolve))
  stream.stalledSince = performance.now()
  await drained(res)
  stream.stalledSince = undefined
}

/**
 * One chunk of the body as one write. The response would send its length, its bytes and its end as four pieces, which
 * costs half as much again; behind its back the socket may be used once it belongs to it and the head has left.
 * @returns whether the socket takes more.
 */
function write(res: ServerResponse, text: string): boolean {
  const { socket } = res
  if (!socket || res.req.httpVersion !== '1.1') return res.write(text)
  return socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}

function drained(res: ServerResponse): Promise<void> {
  const { socket } = res
  return new Promise((resolve) => {
    const wake = () => {
      socket?.off('drain', wake)
      res.off('drain', wake)
      res.off('close', wake)
      resolve()
    }
    socket?.on('drain', wake)
    res.on('drain', wake)
    res.on('close', wake)
    if (res.destroyed) wake()
  })
}
