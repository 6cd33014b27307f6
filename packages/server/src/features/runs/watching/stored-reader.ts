/** Reads a stored event log as a live one is read. */
import { entriesAfter, type StoredLog } from '../encoding/event-log-file.ts'
import type { RunLogReader } from '../ports.ts'

export function storedReader(log: StoredLog, afterId: number): RunLogReader {
  const entries = entriesAfter(log, afterId)
  let place = 0
  return {
    // The log itself is held: other readers of the run find it while this one reads.
    get messages() {
      return log.messages
    },
    take(limit) {
      const taken = entries.slice(place, place + limit)
      place += taken.length
      return taken
    },
    changed: () => Promise.resolve(),
    listen: () => {},
    isAtEnd() {
      return place >= entries.length
    },
    isCallerAwaited: () => false,
    release: () => {},
  }
}
