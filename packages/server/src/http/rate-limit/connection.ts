/** One client connection: how many of its requests are processed at once, and the responses that wait for their turn on it. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that are processed concurrently. Published clients do not pipeline. */
const mostAtOnce = 8

export class Connection {
  readonly #socket: Socket
  #processed = 0
  /** Requests that were read and have not begun. While there are some, the connection is not read. */
  #held = 0
  readonly #waiting: (() => void)[] = []
  readonly #queued = new Set<ServerResponse>()

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Processes now, or once an earlier request of the connection has been answered. */
  process(res: ServerResponse, answer: (res: ServerResponse) => void): void {
    if (this.#processed < mostAtOnce) {
      this.#processed += 1
      this.#begin(res, answer)
      return
    }
    // Reading stops, so at most one read of the connection waits here.
    if (this.#held === 0) {
      this.#socket.on('resume', pauseAgain)
      this.#socket.pause()
    }
    this.#held += 1
    this.#waiting.push(() => {
      this.#held -= 1
      if (this.#held === 0) {
        this.#socket.off('resume', pauseAgain)
        this.#socket.resume()
      }
      if (!this.#socket.destroyed) this.#begin(res, answer)
    })
  }

  #begin(res: ServerResponse, answer: (res: ServerResponse) => void): void {
    res.once('close', () => {
      const next = this.#waiting.shift()
      // In the next turn of the event loop, so a connection with thousands of requests does not delay the others.
      if (next) setImmediate(next)
      else this.#processed -= 1
    })
    answer(res)
  }

  /**
   * Makes a response whose turn has not come emit `close` when the connection closes. Node does this only for the response at
   * the front of the queue.
   */
  queue(res: ServerResponse): void {
    if (this.#queued.size === 0) this.#socket.once('close', this.#closeQueued)
    this.#queued.add(res)
    res.once('close', () => {
      this.#queued.delete(res)
      if (this.#queued.size === 0) this.#socket.off('close', this.#closeQueued)
    })
  }

  readonly #closeQueued = (): void => {
    for (const res of this.#queued) {
      // Repeats what Node does for the response at the front; there is no public API for it.
      Object.assign(res, { destroyed: true, _closed: true })
      res.emit('close')
    }
  }
}

// Node resumes the socket after every response, even if we paused it.
function pauseAgain(this: Socket): void {
  this.pause()
}

const connectionKey = Symbol('connection')

/** The connection's record, on its socket. */
export function connectionOf(socket: Socket & { [connectionKey]?: Connection }): Connection {
  socket[connectionKey] ??= new Connection(socket)
  return socket[connectionKey]
}
