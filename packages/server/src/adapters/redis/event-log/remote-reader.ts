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
  readonly #options: RemoteReaderOptions
  #held: LogEntry[] = []
  #place = 0
  #characters = 0
  #cursor = beforeStream
  #lastId: number
  #wanted = 1
  #isEnded = false
  #isReleased = false
  #stored: RunLogReader | undefined
  #wake: (() => void) | undefined
  #listener: (() => void) | undefined

  constructor(options: RemoteReaderOptions) {
    this.#options = options
    this.#lastId = options.afterId
  }

  /** The id of the last batch that this reader has seen in the stream. */
  get cursor(): string {
    return this.#cursor
  }

  /** The id of the last event that this reader has received. */
  get lastId(): number {
    return this.#lastId
  }

  /** The number of batches to fetch, estimated from the size of the last one. */
  get wanted(): number {
    return this.#wanted
  }

  /**
   * Accepts a batch, or returns `full`. Returns `gap` if earlier events are missing, and `ended` if none will follow.
   */
  accept(batch: StreamBatch, hasMessages: boolean): 'accepted' | 'ended' | 'full' | 'gap' {
    if (!this.#isEmpty() && this.#characters + batch.characters > batchCharacters) return 'full'
    this.#cursor = batch.id
    this.#wanted = Math.min(mostWanted, Math.max(1, Math.floor(batchCharacters / batch.characters)))
    const before = this.#held.length
    if (!hasMessages || !this.#addEntries(batch)) return 'gap'
    if (batch.endId !== undefined && batch.endId > this.#lastId) return 'gap'
    this.#isEnded = batch.endId !== undefined
    if (this.#held.length > before) this.#characters += batch.characters
    if (this.#held.length > before || this.#isEnded) this.#notify()
    return this.#isEnded ? 'ended' : 'accepted'
  }

  /** True if all received events were taken and the event log has not ended. */
  isWaiting(): boolean {
    return this.#isEmpty() && !this.#isEnded && !this.#stored && !this.#isReleased
  }

  /** Reads the stream from its start. Events that were already received are skipped. */
  restart(): void {
    this.#cursor = beforeStream
  }

  /** Ends this reader after the events that it holds. */
  end(): void {
    this.#isEnded = true
    this.#notify()
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
    if (taken.length > 0 && this.#isEmpty()) {
      this.#held = []
      this.#place = 0
      this.#characters = 0
      this.#options.onEmpty(this)
    }
    return taken
  }

  changed(): Promise<void> {
    if (this.#isReleased || this.#isEnded || this.#stored || !this.#isEmpty()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  isAtEnd(): boolean {
    return this.#stored ? this.#stored.isAtEnd() : this.#isEnded && this.#isEmpty()
  }

  isCallerAwaited(): boolean {
    return !this.#stored && !this.#isEnded && this.#options.isCallerAwaited()
  }

  // Bound to the reader, because callers may pass this method on alone.
  readonly release = (): void => {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#listener = undefined
    this.#wake?.()
    this.#options.onReleased(this)
  }

  #isEmpty(): boolean {
    return this.#place >= this.#held.length
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
    this.#listener?.()
  }

  #addEntries({ from, entries }: StreamBatch): boolean {
    const [first] = entries
    if (first && from.entries > 0 && first.id > this.#lastId + 1) return false
    for (const entry of entries) {
      if (entry.id <= this.#lastId) continue
      this.#held.push(entry)
      this.#lastId = entry.id
    }
    return true
  }
}
