/** Limits the bytes of unread responses. Conversation reads wait for room, and stalled clients are disconnected. */
import type { ServerResponse } from 'node:http'
import { refuse } from '../../shared/app-error.ts'

export interface UnreadSettings {
  stallMs: number
  mostBytes: number
}

const lookMs = 250
/** Consecutive checks without progress until a client counts as stalled. Its socket is polled between two checks. */
const stalledLooks = 2
/** A conversation of 4 MB is in memory twice while it is read: as a row and as a value. */
const reservedBytes = 8_388_608
const maxWaitingMs = 10_000

interface Watched {
  /** The result of `writtenBytes` before the response, and at the last progress. */
  startBytes: number
  progress: number
  movedAt: number
  /** Number of checks since the last progress. */
  looks: number
  unsentBytes: number
  /** The reserved bytes, or the size of a large body once known. Both count in addition to `unsentBytes`. */
  heldBytes: number
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
  #timer: NodeJS.Timeout | undefined

  constructor(settings: UnreadSettings) {
    this.#settings = settings
    this.#reservation = Math.min(reservedBytes, Math.floor(settings.mostBytes / 2))
  }

  enter(res: ServerResponse): void {
    this.#open.set(res, {
      ...{ startBytes: res.req.socket.bytesWritten, progress: -1, movedAt: performance.now(), looks: 0 },
      ...{ unsentBytes: 0, heldBytes: 0, apiKeyId: undefined },
    })
    this.#timer ??= setInterval(() => this.#look(), lookMs).unref()
  }

  leave(res: ServerResponse): void {
    const watched = this.#open.get(res)
    this.#open.delete(res)
    if (watched && watched.heldBytes > 0) this.#setHeld(watched, 0)
  }

  /**
   * Waits for room for one large response. `hold` later sets the actual size. Reservations of one key fill at most half
   * of the budget, so that its slow readers do not delay other keys.
   * @throws AppError ServiceUnavailableError if no room becomes free in time, or if the client disconnects.
   */
  async reserve(res: ServerResponse, apiKeyId: number): Promise<void> {
    const watched = this.#open.get(res)
    if (!watched) throw refuse('client-disconnected')
    watched.apiKeyId = apiKeyId
    if (!this.#hasRoom(apiKeyId)) await this.#room(res, apiKeyId)
    else this.#setHeld(watched, this.#reservation)
  }

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
      const left = end(() => reject(refuse('client-disconnected')))
      const late = end(() => reject(refuse('too-many-unread-responses')))
      const patience = setTimeout(late, maxWaitingMs).unref()
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
    const wanted = this.#waiting.size > 0 ? this.#reservation : 0
    closeStalled(this.#open, { stallMs, mostBytes: mostBytes - wanted })
  }
}

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
  const progress = writtenBytes(res)
  watched.unsentBytes = unsentBytes(res, progress - watched.startBytes)
  // A client without unsent bytes is not stalled, because it waits for the server.
  if (watched.unsentBytes > 0 && progress === watched.progress) {
    watched.looks += 1
    return
  }
  watched.looks = 0
  watched.progress = progress
  watched.movedAt = now
}

/** Includes the part of a long body that `writeBody` has not yet written. */
function unsentBytes(res: ServerResponse, writtenBytes: number): number {
  // Event streams buffer little, and their clients may pause during a tool call. `sse.ts` has its own limit for them.
  if (String(res.getHeader('content-type')).startsWith('text/event-stream')) return 0
  return Math.max(res.writableLength, Number(res.getHeader('content-length') ?? 0) - writtenBytes)
}

/** Bytes that the operating system has accepted. A write counts once all of it is accepted. */
function writtenBytes({ req: { socket } }: ServerResponse): number {
  return socket.bytesWritten - socket.writableLength
}
