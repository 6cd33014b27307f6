/** Node ends only the response whose turn it is when its connection ends. The pipelined ones behind it are ended here. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const queued = new WeakMap<Socket, Set<ServerResponse>>()

/** Makes `res` emit `close` with its connection, as every other response does. Call it when the request arrives. */
export function closeWithConnection(res: ServerResponse): void {
  // It is this response's turn already.
  if (res.socket) return
  const { socket } = res.req
  const waiting = queued.get(socket) ?? watch(socket)
  waiting.add(res)
  res.once('close', () => waiting.delete(res))
}

function watch(socket: Socket): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>()
  queued.set(socket, waiting)
  socket.once('close', () => {
    for (const res of waiting) {
      // Repeats what Node does for the response at the front of the queue; there is no public API for it.
      Object.assign(res, { destroyed: true, _closed: true })
      res.emit('close')
    }
  })
  return waiting
}
