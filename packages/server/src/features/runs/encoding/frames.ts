/** Joins what the log keeps into the bytes of an event stream: the same for every reader of one form. */
import type { EncodedMessage, EventPiece, LogEntry } from '../ports.ts'

export type MessageForm = keyof EncodedMessage

/** The frame of one entry; empty for an entry that readers of this form are not shown. */
export function frameOf(entry: LogEntry, messages: readonly EncodedMessage[], form: MessageForm): string {
  if (typeof entry.pieces === 'string') return entry.pieces
  if (form === 'declared' && entry.isUndeclaredOnly === true) return ''
  const pieces = form === 'declared' ? (entry.declaredPieces ?? entry.pieces) : entry.pieces
  let frame = ''
  for (const piece of pieces) frame += typeof piece === 'string' ? piece : joinMessages(piece, messages, form)
  return frame
}

/** What some clients take for the end of a line, beside CR and LF; in JSON these may stand as they are, or escaped. */
const lineEnds = /[\u0085\u2028\u2029]/g

/** The same frames with no character that could end a line inside of their data. */
export function escapeLineEnds(frames: string): string {
  return frames.replace(lineEnds, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function joinMessages(
  [from, to]: Exclude<EventPiece, string>,
  messages: readonly EncodedMessage[],
  form: MessageForm,
): string {
  let text = ''
  for (let place = from; place < to; place += 1) {
    if (place > from) text += ','
    text += messages[place]?.[form] ?? ''
  }
  return text
}
