/** Joins what the log keeps into the bytes of an event stream: the same for every reader of one form. */
import type { EncodedMessage, EventPiece, LogEntry } from '../ports.ts'

export type MessageForm = keyof EncodedMessage

/**
 * Adds the frame of one entry, in pieces that all readers share: a frame that repeats a long conversation is never
 * joined for one of them. Nothing is added for an entry that readers of this form are not shown.
 */
export function addFrame(
  into: string[],
  entry: LogEntry,
  messages: readonly EncodedMessage[],
  form: MessageForm,
): void {
  if (typeof entry.pieces === 'string') return void into.push(entry.pieces)
  if (form === 'declared' && entry.isUndeclaredOnly === true) return
  const pieces = form === 'declared' ? (entry.declaredPieces ?? entry.pieces) : entry.pieces
  for (const piece of pieces) {
    if (typeof piece === 'string') into.push(piece)
    else addMessages(into, piece, messages, form)
  }
}

/** What some clients take for the end of a line, beside CR and LF; in JSON these may stand as they are, or escaped. */
const lineEnds = /[\u0085\u2028\u2029]/g

/** The same frames with no character that could end a line inside of their data. */
export function escapeLineEnds(frames: string): string {
  return frames.replace(lineEnds, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function addMessages(
  into: string[],
  [from, to]: Exclude<EventPiece, string>,
  messages: readonly EncodedMessage[],
  form: MessageForm,
): void {
  for (let place = from; place < to; place += 1) {
    if (place > from) into.push(',')
    into.push(messages[place]?.[form] ?? '')
  }
}
