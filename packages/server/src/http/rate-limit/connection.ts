import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum concurrent requests per connection. Published clients do not pipeline. */
const mostAtOnce = 8

export class Connection {
  readonly #socket: Socket
  #processed = 0
  /** Number of requests that were read but not started. Above 0, the connection is not read. */
  #held = 0
  readonly #waiting: (() => void)[] = []
  readonly #queued = new Set<ServerResponse>()

  constructor(socket: Socket) {
    this.#socket = socket
  }

  process(res: ServerResponse, answer: (res: ServerResponse) => void): void {
    if (this.#processed < mostAtOnce) {
      this.#processed += 1
      this.#begin(res, answer)
      return
    }
    // Pauses the socket, so that only requests from data that Node has already read are added here.
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
      // Deferred to the next turn, so that a connection with thousands of requests does not delay other connections.
      if (next) setImmediate(next)
      else this.#processed -= 1
    })
    answer(res)
  }

  /** Emits `close` on `res` when the connection closes. Node does this only for the response whose turn it is. */
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
      // Sets the same fields as Node, because there is no public API.
      Object.assign(res, { destroyed: true, _closed: true })
      res.emit('close')
    }
  }
}

// Node resumes the socket after every response, even if this class has paused it.
function pauseAgain(this: Socket): void {
  this.pause()
}

const connectionKey = Symbol('connection')

export function connectionOf(socket: Socket & { [connectionKey]?: Connection }): Connection {
  socket[connectionKey] ??= new Connection(socket)
  return socket[connectionKey]
}
