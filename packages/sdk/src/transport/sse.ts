import { onAbort } from './on-abort.ts'
import { startTimer } from './timer.ts'

/** One message of an event stream, its lines joined. */
export interface Frame {
  event: string | undefined
  data: string
  id: string | undefined
}

/** How a body of events is read. */
export interface FrameReading {
  /** What it throws ends the reading. */
  onFrame: (frame: Frame) => void
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

/** Takes the text of an event stream piece by piece; a frame counts once its blank line has come. */
function frameParser(onFrame: (frame: Frame) => void): (text: string) => void {
  let rest = ''
  let endsWithReturn = false
  let event: string | undefined
  let data: string | undefined
  let id: string | undefined
  return (text) => {
    if (text === '') return
    // CR LF is one line end, also when two pieces share it
    let piece = endsWithReturn && text.startsWith('\n') ? text.slice(1) : text
    endsWithReturn = text.endsWith('\r')
    if (piece.includes('\r')) piece = piece.replace(/\r\n?/g, '\n')
    // only the new piece is searched: a long line costs no more for arriving in many pieces
    let to = piece.indexOf('\n')
    if (to >= 0) to += rest.length
    const lines = rest + piece
    let from = 0
    // lines are looked at where they stand: of an event three values are copied
    for (; to >= 0; to = lines.indexOf('\n', from)) {
      if (from === to) {
        if (data !== undefined) onFrame({ event, data, id })
        event = data = id = undefined
      } else {
        const more = fieldOf('data', lines, from, to)
        if (more !== undefined) data = data === undefined ? more : `${data}\n${more}`
        else event = fieldOf('event', lines, from, to) ?? event
        id = fieldOf('id', lines, from, to) ?? id
      }
      from = to + 1
    }
    rest = lines.slice(from)
  }
}

/** The value of the line, if it is the field of this name. */
function fieldOf(name: string, lines: string, from: number, to: number): string | undefined {
  const end = from + name.length
  const isNamed = lines.startsWith(name, from) && (end === to || lines[end] === ':')
  return isNamed ? lines.slice(end + (lines[end + 1] === ' ' ? 2 : 1), to) : undefined
}
