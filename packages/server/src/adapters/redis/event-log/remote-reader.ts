/** A reader of a run that another server supervises. Buffers about 32,768 characters of events, or one larger batch. */
import type { LogEntry, RunLogReader, StoredFrames } from '../../../features/runs/ports.ts'
import { batchCharacters, beforeStream, type StreamBatch } from './event-batch.ts'

export interface RemoteReaderOptions {
  messages: readonly string[]
  afterId: number
  isCallerAwaited(): boolean
  /** Called when all received events were taken. */
  onEmpty(reader: RemoteReader): void
  onReleased(reader: RemoteReader): void
}

const mostWanted = 16

export class RemoteReader implements RunLogReader {
  /** The id of the last batch that this reader has seen in the stream. */
  cursor = beforeStream
  /** The id of the last event that this reader has received. */
  lastId: number
  /** The number of batches to fetch, estimated from the size of the last one. */
  wanted = 1
  readonly #options: RemoteReaderOptions
  #held: LogEntry[] = []
  #place = 0
  #characters = 0
  #isReleased = false
  #stored: RunLogReader | undefined
  #wake: (() => void) | undefined
  #listener: (() => void) | undefined

  constructor(options: RemoteReaderOptions) {
    this.#options = options
    this.lastId = options.afterId
  }

  /** Returns false if earlier events are missing. */
  accept({ id, from, entries, characters }: StreamBatch): boolean {
    const [first] = entries
    if (first && from.entries > 0 && first.id > this.lastId + 1) return false
    this.cursor = id
    this.wanted = Math.min(mostWanted, Math.max(1, Math.floor(batchCharacters / characters)))
    const added = entries.filter((entry) => entry.id > this.lastId)
    if (added.length === 0) return true
    this.#held.push(...added)
    this.#characters += characters
    this.lastId = added.at(-1)?.id ?? this.lastId
    this.#notify()
    return true
  }

  isFull(): boolean {
    return this.#characters >= batchCharacters
  }

  /** True if all received events were taken, and more may come from the stream. */
  isWaiting(): boolean {
    return this.#place >= this.#held.length && !this.#stored && !this.#isReleased
  }

  /** Only for a waiting reader: all further events come from `stored`. */
  continueWith(stored: RunLogReader): void {
    this.#stored = stored
    this.#notify()
  }

  get messages(): readonly string[] {
    return this.#stored?.messages ?? this.#options.messages
  }

  take(limit: number): readonly (LogEntry | StoredFrames)[] {
    if (this.#stored) return this.#stored.take(limit)
    const taken = this.#held.slice(this.#place, this.#place + limit)
    this.#place += taken.length
    if (taken.length > 0 && this.#place >= this.#held.length) {
      this.#held = []
      this.#place = 0
      this.#characters = 0
      this.#options.onEmpty(this)
    }
    return taken
  }

  changed(): Promise<void> {
    if (!this.isWaiting()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  isAtEnd(): boolean {
    return this.#stored?.isAtEnd() ?? false
  }

  isCallerAwaited(): boolean {
    return !this.#stored && this.#options.isCallerAwaited()
  }

  // Bound to the reader, because callers may pass this method on alone.
  readonly release = (): void => {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#listener = undefined
    this.#wake?.()
    this.#options.onReleased(this)
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
    this.#listener?.()
  }
}
