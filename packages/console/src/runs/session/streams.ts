/** The event streams of this tab. */
import { announce } from './watch-runs.ts'

/** A browser keeps at most six connections to a server. Open streams must leave some of them to other requests. */
const streamLimit = 2

interface Waiter {
  owner: object
  resolve: (isTaken: boolean) => void
}

const queue: Waiter[] = []
let openStreams = 0

/** Whether another stream may be opened now. */
export function mayStream(): boolean {
  return openStreams < streamLimit
}

/** Resolves when the owner may open a stream, or to false if the owner has left the queue. */
export function takeStream(owner: object): Promise<boolean> {
  if (!mayStream()) return new Promise((resolve) => queue.push({ owner, resolve }))
  openStreams += 1
  return Promise.resolve(true)
}

/** Call it after the end of a stream. The next in the queue takes its place. */
export function releaseStream(): void {
  const next = queue.shift()
  if (next) next.resolve(true)
  else openStreams -= 1
  announce()
}

export function leaveQueue(owner: object): void {
  const at = queue.findIndex((waiter) => waiter.owner === owner)
  if (at >= 0) queue.splice(at, 1)[0]?.resolve(false)
}
