/** Numbers and encodes events and appends them to the event log, within the bounds of a run. */
import type { EventEncoder } from '../encoding/encode-event.ts'
import type { MessageList } from '../encoding/message-list.ts'
import type { LogEntry, RunLogWriter, RunSettings, StoredRunResult } from '../ports.ts'
import type { RunEvent } from './run-event.ts'

export interface RunRecorder {
  /** False, and nothing of the batch recorded, if the run exceeds its bounds. */
  record(events: readonly RunEvent[]): boolean
  /** Encodes the last event. `publish` shows it. */
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

  // Messages precede the events that cover them.
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

/** At most this many bytes of UTF-8 for one UTF-16 unit. */
const mostBytesPerUnit = 3

/**
 * Counts UTF-16 units, which is cheap, until the bound could be reached; from then on it counts bytes.
 * @param recorded all added entries, measured once.
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

/** Messages that an event refers to by place do not count. */
function sum(entries: readonly LogEntry[], sizeOf: (text: string) => number): number {
  let size = 0
  for (const { pieces } of entries) {
    if (typeof pieces === 'string') size += sizeOf(pieces)
    else for (const piece of pieces) if (typeof piece === 'string') size += sizeOf(piece)
  }
  return size
}
