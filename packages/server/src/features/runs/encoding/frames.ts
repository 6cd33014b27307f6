/** Joins what the log keeps into the bytes of an event stream: the same for every reader of one form. */
import type { EncodedMessage, EventPiece, LogEntry, StoredFrames } from '../ports.ts'

export type MessageForm = keyof EncodedMessage

/**
 * Adds the frame of one entry, or ready frames as bytes, in pieces shared by all readers, so that long conversations are never
 * joined per reader. Entries hidden from readers of this form add nothing.
 */
export function addFrame(
  into: (string | Buffer)[],
  entry: LogEntry | StoredFrames,
  messages: readonly EncodedMessage[],
  form: MessageForm,
): void {
  if ('bytes' in entry) return void into.push(entry.bytes)
  if (typeof entry.pieces === 'string') return void into.push(entry.pieces)
  if (form === 'declared' && entry.isUndeclaredOnly === true) return
  const pieces = form === 'declared' ? (entry.declaredPieces ?? entry.pieces) : entry.pieces
  for (const piece of pieces) {
    if (typeof piece === 'string') into.push(piece)
    else addMessages(into, piece, messages, form)
  }
}

function addMessages(
  into: (string | Buffer)[],
  [from, to]: Exclude<EventPiece, string>,
  messages: readonly EncodedMessage[],
  form: MessageForm,
): void {
  for (let place = from; place < to; place += 1) {
    if (place > from) into.push(',')
    into.push(messages[place]?.[form] ?? '')
  }
}
