/** Closes connections whose client does not read: by time, and the longest stalled first when they hold too much memory. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface UnreadSettings {
  /** The longest time without progress. */
  stallMs: number
  /** Bytes that all unread responses together may hold. */
  mostBytes: number
}

export interface UnreadLimit {
  /** Watches the response from here on. */
  enter(res: ServerResponse): void
  /** Once the response has left, or its connection has gone. */
  leave(res: ServerResponse): void
}

const lookMs = 250
/** Looks without progress after which a client counts as stalled: between two of them its socket had a turn. */
const stalledLooks = 2

interface Watched {
  /** The socket's state when it last made progress. */
  progress: number
  movedAt: number
  /** Since then. */
  looks: number
  bytes: number
}

const heldBytes = new WeakMap<ServerResponse, number>()

/** Counts what a response that is written piece by piece holds beside the pieces. */
export function noteHeldBytes(res: ServerResponse, bytes: number): void {
  heldBytes.set(res, bytes)
}

export function createUnreadLimit({ stallMs, mostBytes }: UnreadSettings): UnreadLimit {
  const open = new Map<ServerResponse, Watched>()
  let timer: NodeJS.Timeout | undefined

  const look = () => {
    if (open.size === 0) {
      clearInterval(timer)
      timer = undefined
      return
    }
    const now = performance.now()
    const stalled: [ServerResponse, Watched][] = []
    let total = 0
    for (const entry of open) {
      const [res, watched] = entry
      update(res, watched, now)
      total += watched.bytes
      if (watched.looks >= stalledLooks) stalled.push(entry)
    }
    stalled.sort(([, one], [, other]) => one.movedAt - other.movedAt)
    for (const [res, { movedAt, bytes }] of stalled) {
      if (total <= mostBytes && now - movedAt < stallMs) break
      res.req.socket.destroy()
      total -= bytes
    }
  }

  return {
    enter(res) {
      open.set(res, { progress: -1, movedAt: performance.now(), looks: 0, bytes: 0 })
      timer ??= setInterval(look, lookMs).unref()
    },
    leave: (res) => void open.delete(res),
  }
}

function update(res: ServerResponse, watched: Watched, now: number): void {
  const unsent = isEventStream(res) ? 0 : res.writableLength
  watched.bytes = unsent === 0 ? 0 : unsent + (heldBytes.get(res) ?? 0)
  const progress = writtenBytes(res.req.socket)
  // A response that is not written yet waits for the server, not for its client.
  if (unsent > 0 && progress === watched.progress) {
    watched.looks += 1
    return
  }
  watched.looks = 0
  watched.progress = progress
  watched.movedAt = now
}

// Event streams hold little, and stand still while their client works on a tool call: `sse.ts` has their rule.
function isEventStream(res: ServerResponse): boolean {
  return String(res.getHeader('content-type')).startsWith('text/event-stream')
}

type WithHandle = Socket & { _handle?: { writeQueueSize?: number } | null }

/** Bytes accepted by the system. For parts of a large write, only the handle's queue shows progress. */
function writtenBytes(socket: WithHandle): number {
  return socket.bytesWritten - (socket._handle?.writeQueueSize ?? 0)
}
