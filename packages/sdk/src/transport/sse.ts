import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onAbort } from './on-abort.ts'
import { startTimer } from './timer.ts'

export type Frame = EventSourceMessage

export interface FrameReading {
  /** An exception stops reading. */
  onFrame: (frame: Frame) => void
  /** Milliseconds without data before reading stops. Evaluated before each wait. */
  idleMs: () => number
  signal: AbortSignal
}

/**
 * Passes the frames of an event stream to `onFrame`. Resolves to true if the stream was idle for too long, and to false
 * when the server closes the stream or the signal aborts. Rejects with an exception of `onFrame`, or with the runtime's
 * error if the socket breaks. Always releases the body.
 */
export async function readFrames(body: ReadableStream<Uint8Array>, reading: FrameReading): Promise<boolean> {
  const reader = body.getReader()
  // Canceling resolves a pending read as done.
  const cancel = () => void reader.cancel().catch(() => {})
  const feed = frameParser(reading.onFrame)
  const decoder = new TextDecoder()
  let isIdle = false
  const unfollow = onAbort(reading.signal, cancel)
  try {
    while (!reading.signal.aborted) {
      const stopTimer = startTimer(reading.idleMs(), () => {
        isIdle = true
        cancel()
      })
      const { done, value } = await reader.read().finally(stopTimer)
      if (done) break
      feed(decoder.decode(value, { stream: true }))
    }
    return isIdle
  } finally {
    unfollow()
    cancel()
  }
}

function frameParser(onFrame: (frame: Frame) => void): (text: string) => void {
  const parser = createParser({ onEvent: onFrame })
  let endsWithReturn = false
  // After a CR, the parser waits for an LF. If none follows, the last event stays in the parser. So convert CRs to LFs.
  return (text) => {
    const piece = endsWithReturn ? text.replace(/^\n/, '') : text
    if (text !== '') endsWithReturn = text.endsWith('\r')
    parser.feed(piece.includes('\r') ? piece.replace(/\r\n?/g, '\n') : piece)
  }
}
