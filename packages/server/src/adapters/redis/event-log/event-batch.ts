/**
 * The batches of a run's event log, as stored in the Redis Stream of the run. The id of a batch is the place after it,
 * so a batch that is sent twice is stored once. A stream that was lost is written again with other batches, so that a
 * reader that misses events begins anew; it recognizes stored events by their ids.
 */
import type { LogEntry, RunLogWriter } from '../../../features/runs/ports.ts'

/** The numbers of messages and entries before a place in the event log. */
interface Place {
  messages: number
  entries: number
}

export const startOfLog: Place = { messages: 0, entries: 0 }
export const beforeStream = '0-0'

export interface EventBatch {
  from: Place
  messages: string[]
  entries: LogEntry[]
}

/** A batch of a stream, with its id in the stream. */
export interface StreamBatch extends EventBatch {
  id: string
  characters: number
}

/** A batch is limited to this size, except a single larger message or entry. */
export const batchCharacters = 32_768

/**
 * Returns undefined if nothing is new. Entries may refer to any message, so a batch has entries only after all
 * messages.
 */
export function nextBatch(
  log: Pick<RunLogWriter, 'messages' | 'entries'>,
  from: Place,
): { id: string; text: string; to: Place } | undefined {
  const room = { left: batchCharacters, isEmpty: true }
  const messages = takeFitting(log.messages, from.messages, (message) => message.length, room)
  const areAllIncluded = from.messages + messages.length === log.messages.length
  const entries = areAllIncluded ? takeFitting(log.entries, from.entries, entryCharacters, room) : []
  if (room.isEmpty) return undefined
  const to = { messages: from.messages + messages.length, entries: from.entries + entries.length }
  return { id: `${to.entries}-${to.messages}`, text: JSON.stringify({ from, messages, entries }), to }
}

function takeFitting<T>(
  items: readonly T[],
  from: number,
  charactersOf: (item: T) => number,
  room: { left: number; isEmpty: boolean },
): T[] {
  const taken: T[] = []
  for (let place = from; place < items.length; place += 1) {
    const item = items[place] as T
    const characters = charactersOf(item)
    if (characters > room.left && !room.isEmpty) break
    room.left -= characters
    room.isEmpty = false
    taken.push(item)
  }
  return taken
}

function entryCharacters({ pieces }: LogEntry): number {
  if (typeof pieces === 'string') return pieces.length
  let characters = 0
  for (const piece of pieces) characters += piece.length
  return characters
}

/** @throws SyntaxError if the text is not JSON. */
export function readBatch([id, [, text = '']]: [id: string, fields: string[]]): StreamBatch {
  return { ...(JSON.parse(text) as EventBatch), id, characters: text.length }
}
