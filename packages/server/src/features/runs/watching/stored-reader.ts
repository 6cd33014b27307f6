/** Reads a stored event log as a live one is read. */
import type { StoredLog } from '../encoding/event-log-file.ts'
import type { RunLogReader } from '../ports.ts'

export function storedReader(log: StoredLog, afterId: number): RunLogReader {
  const entries = log.entries.filter(({ id }) => id > afterId)
  let place = 0
  return {
    messages: log.messages,
    take(limit) {
      const taken = entries.slice(place, place + limit)
      place += taken.length
      return taken
    },
    changed: () => Promise.resolve(),
    get isAtEnd() {
      return place >= entries.length
    },
    isCallerAwaited: false,
    release: () => {},
  }
}
