/** Limits the requests of one connection that are processed at once, so an unread connection cannot collect responses. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Serves now, or once an earlier response of the connection has been sent. */
export type ServePipelined = (req: IncomingMessage, res: ServerResponse, serve: () => void) => void

interface Line {
  open: number
  /** Requests that are read and not yet served. */
  held: number
  waiting: (() => void)[]
}

export function createPipelineLimit(most: number): ServePipelined {
  // A socket has no place of its own for this, and its line ends with it.
  const lines = new WeakMap<Socket, Line>()
  return ({ socket }, res, serve) => {
    const line = lines.get(socket) ?? { open: 0, held: 0, waiting: [] }
    lines.set(socket, line)
    const begin = () => {
      res.once('close', () => {
        const next = line.waiting.shift()
        // In the next turn of the event loop, so a connection with thousands of requests does not delay the others.
        if (next) setImmediate(next)
        else line.open -= 1
      })
      serve()
    }
    if (line.open < most) {
      line.open += 1
      return begin()
    }
    // Reading stops, so at most one read of the connection waits here.
    if (line.held === 0) {
      socket.on('resume', pauseAgain)
      socket.pause()
    }
    line.held += 1
    line.waiting.push(() => {
      line.held -= 1
      if (line.held === 0) {
        socket.off('resume', pauseAgain)
        socket.resume()
      }
      if (!socket.destroyed) begin()
    })
  }
}

// Node resumes the socket after every response, even if we paused it.
function pauseAgain(this: Socket): void {
  this.pause()
}
