import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { SpentPoint, WorkspaceStorage } from '../../features/access/ports.ts'
import { sessionStreams } from '../../features/sessions/ports.ts'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { callerOf } from '../auth/request-context.ts'
import type { HttpDeps } from '../http-deps.ts'

export async function spendPoint(deps: Pick<HttpDeps, 'rateLimiter'>, res: ServerResponse): Promise<SpentPoint> {
  const { apiKeyId, sessionId, limit } = callerOf(res)
  const point = await deps.rateLimiter.spend(sessionId === null ? apiKeyId : `sessions:${apiKeyId}`, limit)
  res.setHeader('X-RateLimit-Limit', limit)
  res.setHeader('X-RateLimit-Remaining', Math.max(0, point.remaining))
  res.setHeader('X-RateLimit-Reset', point.resetAtMs)
  return point
}

/**
 * A body larger than a second's allowance uses it up.
 * @param filled counts the bytes if the request stores them. @throws AppError RateLimitError above the limit.
 */
export async function spendBytes(
  { rateLimiter, settings }: HttpDeps,
  caller: Caller,
  bytes: number,
  filled?: WorkspaceStorage,
): Promise<void> {
  const limit = settings.bytesPerSecond
  const { allowed } = await rateLimiter.spend(`bytes:${caller.apiKeyId}`, limit, Math.min(bytes, limit))
  if (!allowed) throw refuse('too-many-bytes', { limit, retryAfter: 1 })
  filled?.add(caller.workspaceId, bytes)
}

/** Limits open event streams per key or session, so that none of them can use all sockets. */
export class StreamLimit {
  readonly #maxPerKey: number
  readonly #open = new Map<number | string, number>()

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey
  }

  /** Counts one stream until the response closes. @throws AppError RateLimitError above the limit. */
  enter({ apiKeyId, sessionId }: Caller, res: ServerResponse): void {
    const [owner, limit] = sessionId === null ? [apiKeyId, this.#maxPerKey] : [`session:${sessionId}`, sessionStreams]
    const count = this.#open.get(owner) ?? 0
    if (count >= limit) throw refuse('too-many-streams', { limit, retryAfter: 1 })
    this.#open.set(owner, count + 1)
    res.once('close', () => {
      const left = (this.#open.get(owner) ?? 1) - 1
      if (left === 0) this.#open.delete(owner)
      else this.#open.set(owner, left)
    })
  }
}

/** With this many waiting requests, the connection is not read. Published clients do not pipeline. */
const maxWaiting = 8

/** Answers the requests of one connection in turn. RFC 9112, 9.3.2 allows parallel processing of safe ones only. */
export class Connection {
  readonly #socket: Socket
  readonly #waiting: [res: ServerResponse, answer: RequestListener][] = []
  #current: ServerResponse | undefined
  #isPaused = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** The response in progress. */
  get current(): ServerResponse | undefined {
    return this.#current
  }

  take(res: ServerResponse, answer: RequestListener): void {
    if (!this.#current) this.#begin(res, answer)
    else if (this.#waiting.push([res, answer]) >= maxWaiting && !this.#isPaused) {
      // Only requests from data that Node has already read can still follow.
      this.#isPaused = true
      this.#socket.on('resume', pauseAgain).pause()
    }
  }

  #begin(res: ServerResponse, answer: RequestListener): void {
    this.#current = res
    res.once('close', () => {
      const next = this.#waiting.shift()
      this.#current = next?.[0]
      // Deferred to the next turn, so that a connection with thousands of requests does not delay other connections.
      if (next) setImmediate(() => this.#begin(...next))
    })
    if (this.#isPaused && this.#waiting.length === 0) {
      this.#isPaused = false
      this.#socket.off('resume', pauseAgain).resume()
    }
    // After the last response of a connection, a further request gets none.
    if (!this.#socket.writableEnded && !this.#socket.destroyed) answer(res.req, res)
  }
}

// Node resumes the socket after every response, even if this class has paused it.
function pauseAgain(this: Socket): void {
  this.pause()
}
