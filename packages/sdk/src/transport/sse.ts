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
  const take = (line: string) => {
    if (line === '') {
      if (data !== undefined) onFrame({ event, data, id })
      event = data = id = undefined
      return
    }
    // the three fields of every event, compared without a copy of their names
    if (isField(line, 'data')) data = data === undefined ? valueAfter(line, 4) : `${data}\n${valueAfter(line, 4)}`
    else if (isField(line, 'event')) event = valueAfter(line, 5)
    else if (isField(line, 'id')) id = valueAfter(line, 2)
  }
  return (text) => {
    if (text === '') return
    // CR LF is one line end, also when two pieces share it
    const piece = endsWithReturn && text.startsWith('\n') ? text.slice(1) : text
    endsWithReturn = text.endsWith('\r')
    const [first = '', ...others] = piece.split(piece.includes('\r') ? /\r\n?|\n/ : '\n')
    // only the new piece is searched: a long line costs no more for arriving in many pieces
    let line = rest + first
    for (const next of others) {
      take(line)
      line = next
    }
    rest = line
  }
}

function isField(line: string, name: string): boolean {
  return line.startsWith(name) && (line[name.length] ?? ':') === ':'
}

function valueAfter(line: string, nameLength: number): string {
  return line.slice(nameLength + (line[nameLength + 1] === ' ' ? 2 : 1))
}
