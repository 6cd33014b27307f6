/** The batches of a run's event log, as stored in the Redis Stream of the run. */
import type { LogEntry } from '../../../features/runs/ports.ts'

/** The owner's event log. Grows until it is closed. */
export interface OwnedLog {
  readonly messages: readonly string[]
  readonly entries: readonly LogEntry[]
  isClosed: boolean
  isCallerAwaited: boolean
}

/** The numbers of messages and entries that were published. */
export interface Place {
  messages: number
  entries: number
}

export const startOfLog: Place = { messages: 0, entries: 0 }

export interface EventBatch {
  /** The place of the batch's first message in the conversation, and of its first entry in the event log. */
  from: Place
  messages: string[]
  entries: LogEntry[]
  isCallerAwaited: boolean
  /** The id of the event log's last entry. Only in the last batch. */
  endId?: number
}

/** A batch of a stream, with its id in the stream. */
export interface StreamBatch extends EventBatch {
  id: string
  characters: number
}

export interface BatchText {
  text: string
  /** The place after the batch. */
  to: Place
  isLast: boolean
}

/** A batch is limited to this size, except a single larger message or entry. */
export const batchCharacters = 32_768

/** Returns undefined if nothing is new. Entries may refer to any message, so a batch has entries only after all messages. */
export function nextBatch(log: OwnedLog, from: Place): BatchText | undefined {
  const room = { left: batchCharacters, isEmpty: true }
  const messages = takeFitting(log.messages, from.messages, (message) => message.length, room)
  const areAllIncluded = from.messages + messages.length === log.messages.length
  const entries = areAllIncluded ? takeFitting(log.entries, from.entries, entryCharacters, room) : []
  const to = { messages: from.messages + messages.length, entries: from.entries + entries.length }
  const isLast = log.isClosed && areAllIncluded && to.entries === log.entries.length
  if (room.isEmpty && !isLast) return undefined
  const { isCallerAwaited } = log
  const endId = isLast ? (log.entries.at(-1)?.id ?? 0) : undefined
  return { text: JSON.stringify({ from, messages, entries, isCallerAwaited, endId }), to, isLast }
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

/** @throws SyntaxError if `text` is not JSON. */
export function readBatch(id: string, text: string): StreamBatch {
  return { ...(JSON.parse(text) as EventBatch), id, characters: text.length }
}

export const beforeStream = '0-0'

/** Compares two ids of a stream, which are `<milliseconds>-<number>`. */
export function isAfter(id: string, other: string): boolean {
  const [ms = 0, count = 0] = id.split('-').map(Number)
  const [otherMs = 0, otherCount = 0] = other.split('-').map(Number)
  return ms === otherMs ? count > otherCount : ms > otherMs
}
