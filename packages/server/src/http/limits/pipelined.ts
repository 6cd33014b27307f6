/** Bounds the requests of one connection that are answered at once: an unread connection must not collect answers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hold, release } from '../response/turns.ts'

/** Serves now, or once an earlier response of the connection has left. */
export type ServePipelined = (req: IncomingMessage, res: ServerResponse, serve: () => void) => void

interface Line {
  open: number
  waiting: (() => void)[]
}

export function createPipelineLimit(most: number): ServePipelined {
  const lines = new WeakMap<Socket, Line>()
  return ({ socket }, res, serve) => {
    const line = lines.get(socket) ?? { open: 0, waiting: [] }
    lines.set(socket, line)
    const begin = () => {
      line.open += 1
      res.once('close', () => {
        line.open -= 1
        line.waiting.shift()?.()
      })
      serve()
    }
    if (line.open < most) return begin()
    // Nothing more is read from the connection, so at most one read of it waits here.
    hold(socket)
    line.waiting.push(() => {
      release(socket)
      if (!socket.destroyed) begin()
    })
  }
}
