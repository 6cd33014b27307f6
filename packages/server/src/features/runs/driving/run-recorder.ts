/** Numbers and encodes events as they come and puts them into the log; refuses what goes beyond a run's bounds. */
import type { EventEncoder } from '../encoding/encode-event.ts'
import type { MessageList } from '../encoding/message-list.ts'
import type { LogEntry, RunLogWriter, RunSettings, StoredRunResult } from '../ports.ts'
import type { RunEvent } from '../run-event.ts'
import { createEventSize } from './event-size.ts'

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
