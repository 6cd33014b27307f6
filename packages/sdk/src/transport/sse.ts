import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onAbort } from './on-abort.ts'
import { startTimer } from './timer.ts'

/** One message of an event stream, with its data lines joined. */
export type Frame = EventSourceMessage

/** The options for reading an event stream. */
export interface FrameReading {
  /** An exception stops reading. */
  onFrame: (frame: Frame) => void
  /** Milliseconds without a byte after which reading stops. Read again before each wait. */
  idleMs: () => number
  /** Stops reading and closes the socket. */
  signal: AbortSignal
}

/**
 * Passes the frames of an event stream to `onFrame` until the server closes it, the stream is idle for too long
 * (resolves to true), or the signal aborts. Rejects with the runtime's error if the socket breaks. The body is released
 * in every case.
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

/** Passes the text of an event stream to the parser, piece by piece. */
function frameParser(onFrame: (frame: Frame) => void): (text: string) => void {
  const parser = createParser({ onEvent: onFrame })
  let endsWithReturn = false
  // The parser keeps a CR until it sees whether an LF follows. After the last event none does.
  return (text) => {
    const piece = endsWithReturn ? text.replace(/^\n/, '') : text
    if (text !== '') endsWithReturn = text.endsWith('\r')
    parser.feed(piece.includes('\r') ? piece.replace(/\r\n?/g, '\n') : piece)
  }
}
