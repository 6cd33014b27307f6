import { LRUCache } from 'lru-cache'
import type { LogEntry, RunEventLog, RunLogReader } from '../../features/runs/ports.ts'
import { heldBytes } from '../../shared/json-limits.ts'

interface Log {
  /** False while the run is queued. */
  isOpen: boolean
  messages: string[]
  entries: LogEntry[]
  isClosed: boolean
  isCallerAwaited: boolean
  readers: Set<Waiting>
  /** Shared by all event logs. */
  total: { readers: number }
  onListeners?: ((count: number) => void) | undefined
}

interface Waiting {
  wake?: (() => void) | undefined
  listener?: (() => void) | undefined
}

// Ended event logs stay in memory for up to 60 s. Later readers use the stored event log.
const afterEnd = { ttl: 60_000, ttlAutopurge: true, max: 1_000 } as const

export function createRunEventLog(maxBytes: number): RunEventLog {
  const live = new Map<string, Log>()
  const ended = new LRUCache<string, Log>({ ...afterEnd, maxSize: maxBytes })
  const total = { readers: 0 }
  return {
    expect(runUuid) {
      if (!live.has(runUuid) && !ended.get(runUuid)) live.set(runUuid, emptyLog(total))
    },
    forget(runUuid) {
      const log = live.get(runUuid)
      if (!log || log.isOpen) return
      log.isClosed = true
      live.delete(runUuid)
      wakeAll(log)
    },
    open(runUuid, onListeners) {
      const log = live.get(runUuid) ?? emptyLog(total)
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
          // Frees the run, which the callback references.
          log.onListeners = undefined
          live.delete(runUuid)
          const size = heldBytes(log.messages) + heldBytes(log.entries)
          // Drops larger event logs, so that a few large ones do not evict the others.
          if (size <= 131_072) ended.set(runUuid, log, { size })
          wakeAll(log)
        },
      }
    },
    drop: (runUuid) => ended.delete(runUuid),
    follow(runUuid, afterId) {
      const log = live.get(runUuid) ?? ended.get(runUuid)
      return log && createReader(log, afterId)
    },
    readerCount: () => total.readers,
  }
}

function emptyLog(total: Log['total']): Log {
  const readers = new Set<Waiting>()
  return { isOpen: false, messages: [], entries: [], isClosed: false, isCallerAwaited: false, readers, total }
}

function wakeAll({ readers }: Log): void {
  for (const reader of readers) {
    reader.wake?.()
    reader.wake = undefined
    reader.listener?.()
  }
}

function createReader(log: Log, afterId: number): RunLogReader {
  let place: number | undefined
  const waiting: Waiting = {}
  log.readers.add(waiting)
  log.total.readers += 1
  log.onListeners?.(log.readers.size)
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
      if (!log.readers.has(waiting) || log.isClosed || (place !== undefined && place < log.entries.length))
        return Promise.resolve()
      return new Promise((resolve) => {
        waiting.wake = resolve
      })
    },
    listen(listener) {
      waiting.listener = listener
    },
    isCallerAwaited() {
      return log.isCallerAwaited
    },
    isAtEnd() {
      place ??= firstAfter(log.entries, afterId)
      return log.isClosed && (place === undefined || place >= log.entries.length)
    },
    release() {
      if (!log.readers.delete(waiting)) return
      log.total.readers -= 1
      waiting.listener = undefined
      waiting.wake?.()
      log.onListeners?.(log.readers.size)
    },
  }
}

// The ids of an event log in memory have no gaps.
function firstAfter(entries: readonly LogEntry[], afterId: number): number | undefined {
  const [first] = entries
  return first && Math.max(0, afterId + 1 - first.id)
}
