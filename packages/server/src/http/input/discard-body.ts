/** Takes in what a client still sends of a refused body: closing under it would break the connection before it reads the answer. */
import type { IncomingMessage } from 'node:http'
import { afterListening } from '../../shared/time/listening-time.ts'

const discardLimitBytes = 64 * 1024 * 1024
const discardLimitMs = 5_000
/** Coarse, since there may be many of them. */
const tickMs = 1_000

/** Resolves at the end of the body, of the connection, or of our patience. */
export function discardBody(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let size = 0
    // A process that was kept busy has not read what came meanwhile: that time is no patience.
    const stopTimer = afterListening(discardLimitMs, finish, tickMs)
    function onData(piece: Buffer): void {
      size += piece.length
      if (size > discardLimitBytes) finish()
    }
    function finish(): void {
      stopTimer()
      req.off('data', onData).off('end', finish).off('error', finish).off('close', finish)
      resolve()
    }
    // An error after `finish` has no reader any more, and says nothing new.
    req.on('error', () => undefined)
    req.on('data', onData).on('end', finish).on('error', finish).on('close', finish)
    if (req.destroyed || req.readableEnded) finish()
    else req.resume()
  })
}
