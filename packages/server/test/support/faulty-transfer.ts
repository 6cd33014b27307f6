/** Copies bytes from one socket to another with the faults of a network. */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface Faults {
  pieceBytes: number
  delayMs: number
  bytesPerSecond: number
  /** Bytes wait for this promise, if there is one. */
  whenOpen: Promise<void> | undefined
}

/** A throttled transfer sends this many pieces per second. */
const piecesPerSecond = 20

/** @param faults returns the current faults. They apply to bytes that arrive later, except for `whenOpen`. */
export async function transfer(from: Socket, to: Socket, faults: () => Faults): Promise<void> {
  let sent = Promise.resolve()
  for await (const chunk of from) {
    const bytes = chunk as Buffer
    const { delayMs, bytesPerSecond, pieceBytes } = faults()
    const dueAt = performance.now() + delayMs
    const size = Math.min(pieceBytes, Math.max(1, Math.floor(bytesPerSecond / piecesPerSecond)))
    const pauseMs = bytesPerSecond === Number.POSITIVE_INFINITY ? 0 : 1_000 / piecesPerSecond
    // Reads the next chunk during a delay. Otherwise, the delay would also limit the throughput.
    sent = sent.then(async () => {
      if (delayMs > 0) await delay(Math.max(0, dueAt - performance.now()))
      for (let at = 0; at < bytes.length; at += size) {
        await faults().whenOpen
        if (to.destroyed) return
        if (to.writable) to.write(bytes.subarray(at, at + size))
        if (pauseMs > 0) await delay(pauseMs)
        else await new Promise((resolve) => setImmediate(resolve))
      }
    })
  }
  await sent
  to.end()
}
