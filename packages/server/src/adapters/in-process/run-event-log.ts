/** Live events of runs in memory: one append-only array for each run, readers with a cursor each. */
import type { EncodedMessage, LogEntry, RunEventLog, RunLogReader } from '../../features/runs/ports.ts'
import { createExpiringMap } from '../../shared/expiring-map.ts'

interface Log {
  /** False while the run is queued: nobody writes it yet. */
  isOpen: boolean
  messages: EncodedMessage[]
  entries: LogEntry[]
  isClosed: boolean
  isCallerAwaited: boolean
  readers: Set<() => void>
  onListeners: (count: number) => void
}

// After this the stored log answers. Both bounds keep a burst of runs from filling memory: at most 64 MB stay.
const afterEnd = { ttlMs: 60_000, maxEntries: 1_000 } as const
const maxEndedCharacters = 65_536

export function createRunEventLog(): RunEventLog {
  const live = new Map<string, Log>()
  const ended = createExpiringMap<Log>(afterEnd)
  return {
    expect(runUuid) {
      if (!live.has(runUuid) && !ended.get(runUuid)) live.set(runUuid, emptyLog())
    },
    forget(runUuid) {
      const log = live.get(runUuid)
      if (!log || log.isOpen) return
      log.isClosed = true
      live.delete(runUuid)
      wakeAll(log)
    },
    open(runUuid, onListeners) {
      const log = live.get(runUuid) ?? emptyLog()
      log.isOpen = true
      log.onListeners = onListeners
      live.set(runUuid, log)
      return {
        messages: log.messages,
        entries: log.entries,
        setCallerAwaited(isAwaited) {
          log.isCallerAwaited = isAwaited
        },
        append(messages, entries) {
          for (const message of messages) log.messages.push(message)
          for (const entry of entries) log.entries.push(entry)
          wakeAll(log)
        },
        close() {
          log.isClosed = true
          log.isCallerAwaited = false
          // The listeners count no more, and what counted them holds the whole run.
          log.onListeners = ignore
          live.delete(runUuid)
          if (charactersOf(log) <= maxEndedCharacters) ended.set(runUuid, log)
          wakeAll(log)
        },
      }
    },
    drop: (runUuid) => ended.delete(runUuid),
    follow(runUuid, afterId) {
      const log = live.get(runUuid) ?? ended.get(runUuid)
      return log && createReader(log, afterId)
    },
  }
}

/** Roughly what a log holds in memory. */
function charactersOf({ messages, entries }: Log): number {
  let characters = 0
  for (const { whole, declared } of messages) characters += whole.length + (declared === whole ? 0 : declared.length)
  for (const { pieces } of entries) {
    for (const piece of typeof pieces === 'string' ? [pieces] : pieces) characters += piece.length
  }
  return characters
}

function emptyLog(): Log {
  return {
    isOpen: false,
    messages: [],
    entries: [],
    isClosed: false,
    isCallerAwaited: false,
    readers: new Set(),
    onListeners: ignore,
  }
}

function ignore(): void {}

function wakeAll(log: Log): void {
  for (const wake of log.readers) wake()
}

function createReader(log: Log, afterId: number): RunLogReader {
  /** Known as soon as there is a first entry. */
  let place: number | undefined
  let wake: (() => void) | undefined
  let hear: (() => void) | undefined
  let isReleased = false
  const onChange = () => {
    wake?.()
    wake = undefined
    hear?.()
  }
  log.readers.add(onChange)
  log.onListeners(log.readers.size)
  return {
    messages: log.messages,
    take(limit) {
      place ??= firstAfter(log.entries, afterId)
      if (place === undefined) return []
      const taken = log.entries.slice(place, place + limit)
      place += taken.length
      return taken
    },
    changed() {
      place ??= firstAfter(log.entries, afterId)
      if (isReleased || log.isClosed || (place !== undefined && place < log.entries.length)) return Promise.resolve()
      return new Promise((resolve) => {
        wake = resolve
      })
    },
    listen(listener) {
      hear = listener
    },
    isCallerAwaited() {
      return log.isCallerAwaited
    },
    isAtEnd() {
      place ??= firstAfter(log.entries, afterId)
      return log.isClosed && (place === undefined || place >= log.entries.length)
    },
    release() {
      if (isReleased) return
      isReleased = true
      hear = undefined
      log.readers.delete(onChange)
      onChange()
      log.onListeners(log.readers.size)
    },
  }
}

// Ids rise by one, so the place follows from the first id; only a reaper's terminal event leaves a gap, after all others.
function firstAfter(entries: readonly LogEntry[], afterId: number): number | undefined {
  const [first] = entries
  return first && Math.max(0, afterId + 1 - first.id)
}
