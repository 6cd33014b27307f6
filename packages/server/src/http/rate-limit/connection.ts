import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** With this many waiting requests, the connection is not read. Published clients do not pipeline. */
const mostWaiting = 8

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
    else if (this.#waiting.push([res, answer]) >= mostWaiting && !this.#isPaused) {
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
