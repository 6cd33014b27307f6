/** Keeps a connection that sends request upon request from holding the event loop: so many a turn, the rest in the next ones. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** @returns undefined when the request may be answered in this turn, else what to wait for. */
export type TakeTurn = (req: Pick<IncomingMessage, 'socket'>) => Promise<void> | undefined

/**
 * A socket is not read on while a request of it waits: what waits is one read of each socket at the most.
 * @param most in a turn, and no fewer than one read of a socket can hold: with fewer, a lone connection would be slowed down.
 */
export function createTurns(most: number): TakeTurn {
  let left = most
  let waiting: (() => void)[] = []
  let isNextDue = false
  const makeNextDue = (): void => {
    if (!isNextDue) setImmediate(beginNext)
    isNextDue = true
  }
  const beginNext = (): void => {
    isNextDue = false
    const begun = waiting.slice(0, most)
    waiting = waiting.slice(most)
    left = most - begun.length
    for (const begin of begun) begin()
    if (waiting.length > 0) makeNextDue()
  }
  return ({ socket }) => {
    makeNextDue()
    if (left > 0) {
      left -= 1
      return undefined
    }
    hold(socket)
    return new Promise((resolve) => {
      waiting.push(() => {
        release(socket)
        resolve()
      })
    })
  }
}

/** How many requests of a socket wait. */
const held = new WeakMap<Socket, number>()

export function hold(socket: Socket): void {
  const count = held.get(socket) ?? 0
  held.set(socket, count + 1)
  if (count > 0) return
  socket.on('resume', pauseAgain)
  socket.pause()
}

export function release(socket: Socket): void {
  const count = (held.get(socket) ?? 1) - 1
  held.set(socket, count)
  if (count > 0) return
  socket.off('resume', pauseAgain)
  socket.resume()
}

// Node reads a socket on with every answer that has been sent, whoever paused it.
function pauseAgain(this: Socket): void {
  this.pause()
}
