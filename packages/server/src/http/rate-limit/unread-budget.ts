/** One byte budget for responses that clients have not read: large ones wait for room, stalled clients are closed. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type AppError, refuse } from '../../shared/app-error.ts'
import { collectAll } from '../../shared/collect-garbage.ts'

export interface UnreadSettings {
  /** The longest time without progress. */
  stallMs: number
  /** Bytes that all unread responses together may hold. */
  mostBytes: number
}

const lookMs = 250
/** Copies of large bodies pile up until the engine collects them, at up to four times the heap that is in use. */
const collectAfterBytes = 12_582_912
/** Looks without progress after which a client counts as stalled: between two of them its socket had a turn. */
const stalledLooks = 2
/** While a conversation of 4 MB is read, its row and its value are in memory together. */
const reservedBytes = 8_388_608
const mostWaitingMs = 10_000

interface Watched {
  /** The socket's state when it last made progress. */
  progress: number
  movedAt: number
  /** Since then. */
  looks: number
  unsentBytes: number
  /** Reserved bytes, or bytes used in addition to the unsent ones. */
  heldBytes: number
  /** The key of a reservation. */
  apiKeyId: number | undefined
}

interface Waiting {
  apiKeyId: number
  begin(): void
}

export class UnreadBudget {
  readonly #settings: UnreadSettings
  readonly #reservation: number
  readonly #open = new Map<ServerResponse, Watched>()
  readonly #waiting = new Set<Waiting>()
  readonly #heldByKey = new Map<number, number>()
  #heldBytes = 0
  #uncollectedBytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(settings: UnreadSettings) {
    this.#settings = settings
    this.#reservation = Math.min(reservedBytes, Math.floor(settings.mostBytes / 2))
  }

  /** Watches the response from here on. */
  enter(res: ServerResponse): void {
    this.#open.set(res, {
      ...{ progress: -1, movedAt: performance.now(), looks: 0 },
      ...{ unsentBytes: 0, heldBytes: 0, apiKeyId: undefined },
    })
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
  }

  /** Call when the response has been sent or its connection has closed. */
  leave(res: ServerResponse): void {
    const watched = this.#open.get(res)
    this.#open.delete(res)
    if (!watched || watched.heldBytes === 0) return
    this.#uncollectedBytes += watched.heldBytes
    this.#setHeld(watched, 0)
    if (this.#uncollectedBytes < collectAfterBytes) return
    this.#uncollectedBytes = 0
    // At once: an asynchronous collection begins after the next reads, whose copies come on top.
    collectAll()
  }

  /**
   * Resolves when there is room for a body whose size is known only after it has been read; `hold` states it.
   * One key gets half of the budget, so its slow readers cannot keep other keys waiting.
   * @throws AppError ServiceUnavailableError when no room becomes free in time.
   */
  async reserve(res: ServerResponse, apiKeyId: number): Promise<void> {
    const watched = this.#open.get(res)
    if (!watched) throw gone()
    watched.apiKeyId = apiKeyId
    if (!this.#hasRoom(apiKeyId)) await this.#room(res, apiKeyId)
    else this.#setHeld(watched, this.#reservation)
  }

  /** Counts the bytes of the response in addition to its unsent bytes. */
  hold(res: ServerResponse, bytes: number): void {
    const watched = this.#open.get(res)
    if (watched && watched.heldBytes !== bytes) this.#setHeld(watched, bytes)
  }

  #setHeld(watched: Watched, bytes: number): void {
    const change = bytes - watched.heldBytes
    watched.heldBytes = bytes
    this.#heldBytes += change
    const { apiKeyId } = watched
    if (apiKeyId !== undefined) {
      const ofKey = (this.#heldByKey.get(apiKeyId) ?? 0) + change
      if (ofKey === 0) this.#heldByKey.delete(apiKeyId)
      else this.#heldByKey.set(apiKeyId, ofKey)
    }
    if (change < 0) for (const next of this.#waiting) if (this.#hasRoom(next.apiKeyId)) next.begin()
  }

  #hasRoom(apiKeyId: number): boolean {
    const { mostBytes } = this.#settings
    const ofKey = this.#heldByKey.get(apiKeyId) ?? 0
    return this.#heldBytes + this.#reservation <= mostBytes && ofKey + this.#reservation <= mostBytes / 2
  }

  #room(res: ServerResponse, apiKeyId: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (finish: () => void) => () => {
        clearTimeout(patience)
        res.off('close', left)
        this.#waiting.delete(entry)
        finish()
      }
      const begin = end(() => {
        const watched = this.#open.get(res)
        if (watched) this.#setHeld(watched, this.#reservation)
        resolve()
      })
      const left = end(() => reject(gone()))
      const late = end(() => reject(refuse('too-many-unread-responses')))
      const patience = setTimeout(late, mostWaitingMs).unref()
      const entry: Waiting = { apiKeyId, begin }
      this.#waiting.add(entry)
      res.once('close', left)
    })
  }

  #look(): void {
    if (this.#open.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const { stallMs, mostBytes } = this.#settings
    const isFull = this.#waiting.size > 0
    closeStalled(this.#open, { stallMs, mostBytes: isFull ? mostBytes - this.#reservation : mostBytes })
  }
}

function gone(): AppError {
  return refuse('client-disconnected')
}

/** The longest stalled first, until the others fit. */
function closeStalled(open: Map<ServerResponse, Watched>, { stallMs, mostBytes }: UnreadSettings): void {
  const now = performance.now()
  const stalled: [ServerResponse, Watched][] = []
  let total = 0
  for (const entry of open) {
    const [res, watched] = entry
    update(res, watched, now)
    total += watched.unsentBytes + watched.heldBytes
    if (watched.looks >= stalledLooks) stalled.push(entry)
  }
  stalled.sort(([, one], [, other]) => one.movedAt - other.movedAt)
  for (const [res, { movedAt, unsentBytes, heldBytes }] of stalled) {
    if (total <= mostBytes && now - movedAt < stallMs) break
    res.req.socket.destroy()
    total -= unsentBytes + heldBytes
  }
}

function update(res: ServerResponse, watched: Watched, now: number): void {
  watched.unsentBytes = isEventStream(res) ? 0 : res.writableLength
  const progress = writtenBytes(res.req.socket)
  // While nothing has been written, the client waits for the server.
  if (watched.unsentBytes > 0 && progress === watched.progress) {
    watched.looks += 1
    return
  }
  watched.looks = 0
  watched.progress = progress
  watched.movedAt = now
}

// Event streams hold little and pause while their client works on a tool call; `sse.ts` has their limit.
function isEventStream(res: ServerResponse): boolean {
  return String(res.getHeader('content-type')).startsWith('text/event-stream')
}

type WithHandle = Socket & { _handle?: { writeQueueSize?: number } | null }

/** Bytes accepted by the system. For parts of a large write, only the handle's queue shows progress. */
function writtenBytes(socket: WithHandle): number {
  return socket.bytesWritten - (socket._handle?.writeQueueSize ?? 0)
}
