/** Numbers and encodes events as they come and puts them into the log; refuses what goes beyond a run's bounds. */
import type { EventEncoder } from '../encoding/encode-event.ts'
import type { MessageList } from '../encoding/message-list.ts'
import type { LogEntry, RunLogWriter, RunSettings, StoredRunResult } from '../ports.ts'
import type { RunEvent } from './run-event.ts'

export interface RunRecorder {
  /** False when the run has outgrown its log: nothing of the batch was recorded. */
  record(events: readonly RunEvent[]): boolean
  /** Encodes the last event and leaves it to `publish` to show it. */
  prepareEnd(event: RunEvent): LogEntry
  publish(entry: LogEntry): void
  /** The last provider-completed event so far. */
  completed(): StoredRunResult['completed']
}

export function createRunRecorder(
  settings: Pick<RunSettings, 'maxEvents' | 'maxEventBytes'>,
  encoder: EventEncoder,
  list: MessageList,
  log: RunLogWriter,
): RunRecorder {
  const size = createEventSize(settings.maxEventBytes, () => log.entries)
  let completed: StoredRunResult['completed']

  // Messages come before the events that cover them.
  const append = (entries: LogEntry[]) => {
    const known = log.messages.length
    log.append(known < list.encoded.length ? list.encoded.slice(known) : [], entries)
  }

  return {
    record(events) {
      if (log.entries.length + events.length >= settings.maxEvents || size.isOver()) return false
      const entries: LogEntry[] = []
      for (const event of events) {
        const entry = encoder.encode(event)
        entries.push(entry)
        if ('latitude' in event && event.latitude.type === 'provider-completed') {
          completed = { eventId: entry.id, covers: event.covers }
        }
      }
      append(entries)
      size.add(entries)
      return true
    },
    prepareEnd(event) {
      append([])
      return encoder.encode(event)
    },
    publish: (entry) => append([entry]),
    completed() {
      return completed
    },
  }
}

export interface EventSize {
  add(entries: readonly LogEntry[]): void
  isOver(): boolean
}

/** Bytes of UTF-8 for one UTF-16 unit, at most. */
const mostBytesPerUnit = 3

/**
 * While even the widest characters could not reach the bound, counting units is enough; from then on bytes are counted.
 * @param recorded all entries that were added, for the one time that they are measured.
 */
export function createEventSize(maxBytes: number, recorded: () => readonly LogEntry[]): EventSize {
  let units = 0
  let bytes: number | undefined
  return {
    add(entries) {
      if (bytes !== undefined) {
        bytes += sum(entries, Buffer.byteLength)
        return
      }
      units += sum(entries, unitsOf)
      if (units * mostBytesPerUnit > maxBytes) bytes = sum(recorded(), Buffer.byteLength)
    },
    isOver() {
      return bytes !== undefined && bytes > maxBytes
    },
  }
}

const unitsOf = (text: string) => text.length

/** Messages that an event names by their places are not its own. */
function sum(entries: readonly LogEntry[], sizeOf: (text: string) => number): number {
  let size = 0
  for (const { pieces } of entries) {
    if (typeof pieces === 'string') size += sizeOf(pieces)
    else for (const piece of pieces) if (typeof piece === 'string') size += sizeOf(piece)
  }
  return size
}
