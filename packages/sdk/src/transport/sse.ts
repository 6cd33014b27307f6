import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onAbort } from './on-abort.ts'
import { startTimer } from './timer.ts'

/** How a body of events is read. */
export interface FrameReading {
  onFrame: (frame: EventSourceMessage) => void
  /** Milliseconds without a byte after which reading ends; asked again for each read. */
  idleMs: () => number
  /** Ends the reading and closes the socket. */
  signal: AbortSignal
}

/**
 * Feeds the frames of an event stream to `onFrame` until the server closes, nothing comes for too long (then it resolves
 * to true) or the signal. Rejects with the runtime's error when the socket breaks; either way the body is given back.
 */
export async function readFrames(body: ReadableStream<Uint8Array>, reading: FrameReading): Promise<boolean> {
  const reader = body.getReader()
  // a read that is pending resolves as done when the reader is cancelled
  const cancel = () => void reader.cancel().catch(() => {})
  const parser = createParser({ onEvent: reading.onFrame })
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
      parser.feed(decoder.decode(value, { stream: true }))
    }
    return isIdle
  } finally {
    unfollow()
    cancel()
  }
}
