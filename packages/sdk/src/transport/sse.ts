import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { onAbort } from '../runtime.ts'
import { startTimer } from './timer.ts'

export type Frame = EventSourceMessage

const FAREWELL_MS = 1000

/**
 * Yields the frames of an event stream, all frames of a chunk at once. Ends when the server closes the stream or the
 * signal aborts. Throws if the stream is idle for too long or the socket breaks. Always releases the body.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<Frame[], void> {
  const reader = body.getReader()
  // Canceling resolves a pending read as done.
  const cancel = () => void reader.cancel().catch(() => {})
  const parse = frameParser()
  const decoder = new TextDecoder()
  const unfollow = onAbort(signal, cancel)
  const read = async (ms: number) => {
    let isIdle = false
    const stopTimer = startTimer(ms, () => {
      isIdle = true
      cancel()
    })
    try {
      const { value } = await reader.read()
      if (!isIdle) return value
    } catch (cause) {
      throw new Error('The connection was lost', { cause })
    } finally {
      stopTimer()
    }
    throw new Error(`Nothing arrived for ${ms} ms`)
  }
  try {
    for (let bytes = await read(idleMs); bytes; bytes = await read(idleMs)) {
      yield parse(decoder.decode(bytes, { stream: true }))
    }
  } finally {
    while (await read(FAREWELL_MS).catch(() => {})) {
      // The caller has the terminal event. Wait for the server to close the stream, so that the connection is reused.
    }
    unfollow()
    cancel()
  }
}

function frameParser(): (text: string) => Frame[] {
  const frames: Frame[] = []
  const parser = createParser({ onEvent: (frame) => frames.push(frame) })
  let endsWithReturn = false
  // After a CR, the parser waits for an LF. If none follows, the last event stays in the parser. So convert CRs to LFs.
  return (text) => {
    const piece = endsWithReturn ? text.replace(/^\n/, '') : text
    if (text !== '') endsWithReturn = text.endsWith('\r')
    parser.feed(piece.includes('\r') ? piece.replace(/\r\n?/g, '\n') : piece)
    return frames.splice(0)
  }
}
