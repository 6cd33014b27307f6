/** A reader of a run that another server supervises. Holds at most one batch of events that it has not taken. */
import type { EncodedMessage, LogEntry, RunLogReader } from '../../../features/runs/ports.ts'
import { batchCharacters, beforeStream, type StreamBatch } from './event-batch.ts'

export interface RemoteReader extends RunLogReader {
  /** The id of the last batch that this reader has seen in the stream. */
  readonly cursor: string
  /** The id of the last event that this reader has received. */
  readonly lastId: number
  /** The number of batches that probably fit. */
  readonly wanted: number
  /**
   * Takes over a batch, or returns `full`. Returns `gap` if earlier events are missing, and `ended` if none will follow.
   */
  accept(batch: StreamBatch, hasMessages: boolean): 'accepted' | 'ended' | 'full' | 'gap'
  /** True if this reader has taken everything and the event log has not ended. */
  isWaiting(): boolean
  /** Reads the stream from its start. Events that were received are ignored. */
  restart(): void
  /** Ends this reader after the events that it holds. */
  end(): void
  /** Only for a waiting reader: all further events come from `stored`. */
  continueWith(stored: RunLogReader): void
}

interface RemoteReaderOptions {
  messages: readonly EncodedMessage[]
  afterId: number
  isCallerAwaited(): boolean
  /** Called when all received events were taken. */
  onEmpty(reader: RemoteReader): void
  onReleased(reader: RemoteReader): void
}

/** Small batches are collected up to this size. */
const heldCharacters = 2 * batchCharacters
const mostWanted = 16

export function createRemoteReader(options: RemoteReaderOptions): RemoteReader {
  let held: LogEntry[] = []
  let place = 0
  let characters = 0
  let cursor = beforeStream
  let lastId = options.afterId
  let wanted = 1
  let isEnded = false
  let isReleased = false
  let stored: RunLogReader | undefined
  let wake: (() => void) | undefined
  let listener: (() => void) | undefined

  const isEmpty = () => place >= held.length
  const notify = () => {
    wake?.()
    wake = undefined
    listener?.()
  }
  const addEntries = (batch: StreamBatch): boolean => {
    const [first] = batch.entries
    if (first && batch.from.entries > 0 && first.id > lastId + 1) return false
    for (const entry of batch.entries) {
      if (entry.id <= lastId) continue
      held.push(entry)
      lastId = entry.id
    }
    return true
  }
  const reader: RemoteReader = {
    get messages() {
      return stored?.messages ?? options.messages
    },
    get cursor() {
      return cursor
    },
    get lastId() {
      return lastId
    },
    get wanted() {
      return wanted
    },
    accept(batch, hasMessages) {
      if (!isEmpty() && characters + batch.characters > heldCharacters) return 'full'
      cursor = batch.id
      wanted = Math.min(mostWanted, Math.max(1, Math.floor(heldCharacters / batch.characters)))
      const before = held.length
      if (!hasMessages || !addEntries(batch)) return 'gap'
      if (held.length > before) characters += batch.characters
      if (batch.endId !== undefined) {
        if (batch.endId > lastId) return 'gap'
        isEnded = true
      }
      if (held.length > before || isEnded) notify()
      return isEnded ? 'ended' : 'accepted'
    },
    isWaiting: () => isEmpty() && !isEnded && !stored && !isReleased,
    restart() {
      cursor = beforeStream
    },
    end() {
      isEnded = true
      notify()
    },
    continueWith(log) {
      stored = log
      notify()
    },
    take(limit) {
      if (stored) return stored.take(limit)
      const taken = held.slice(place, place + limit)
      place += taken.length
      if (taken.length > 0 && isEmpty()) {
        held = []
        place = 0
        characters = 0
        options.onEmpty(reader)
      }
      return taken
    },
    changed() {
      if (isReleased || isEnded || stored || !isEmpty()) return Promise.resolve()
      return new Promise((resolve) => {
        wake = resolve
      })
    },
    listen(added) {
      listener = added
    },
    isAtEnd: () => (stored ? stored.isAtEnd() : isEnded && isEmpty()),
    isCallerAwaited: () => !stored && !isEnded && options.isCallerAwaited(),
    release() {
      if (isReleased) return
      isReleased = true
      listener = undefined
      wake?.()
      options.onReleased(reader)
    },
  }
  return reader
}
