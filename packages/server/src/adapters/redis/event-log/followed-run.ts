/** A run of another server, with all its readers on this server. They share messages, fetches, signals and the watch. */
import type { Redis } from 'ioredis'
import { storedReader } from '../../../features/runs/events/stored-events.ts'
import type {
  EventCodec,
  FindEnd,
  LogEntry,
  RunLogReader,
  StoredFrames,
  StoredLog,
} from '../../../features/runs/ports.ts'
import type { SignalChannel } from '../signals.ts'
import { batchCharacters, beforeStream, readBatch, type StreamBatch } from './owned-run.ts'

export interface FollowTimes {
  /** Followers signal this often that they have readers. */
  signalMs: number
  /** Without news for this long, a follower checks the database. The interval grows up to `longestWatchMs`. */
  watchMs: number
  longestWatchMs: number
}

export interface FollowedRunOptions {
  runUuid: string
  /** `present`: the readers wait only for the end, so the owner need not publish the events. */
  kind: 'follow' | 'present'
  key: string
  redis: Redis
  channel: SignalChannel
  codec: EventCodec
  times: FollowTimes
  onUnread(): void
}

const watchGrowth = 1.5
const noEvents: StoredLog = { messages: [], entries: [] }

export class FollowedRun {
  readonly #options: FollowedRunOptions
  readonly #messages: string[] = []
  /** Readers that do not read the stored event log yet, each with its lookup of the run's end in the database. */
  readonly #readers = new Map<RemoteReader, FindEnd>()
  readonly #fetching = new Set<RemoteReader>()
  readonly #fetches = new Map<string, Promise<StreamBatch[]>>()
  readonly #unlisten: () => void
  /** The id of the stream's newest batch. Undefined if it may have a newer one than the last notice said. */
  #newest: string | undefined
  #isCallerAwaited = false
  #isEndAnnounced = false
  #isEnded = false
  #hasNews = true
  #waitMs: number
  #signalledAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(options: FollowedRunOptions) {
    this.#options = options
    this.#waitMs = options.times.watchMs
    this.#unlisten = options.channel.listen(options.key, {
      onMessage: (notice) => this.#onNotice(notice),
      // Only now: the owner's answer to an earlier signal would be missed.
      onListening: () => this.#ask(),
    })
    this.#plan()
  }

  follow(afterId: number, find: FindEnd): RunLogReader {
    const reader = new RemoteReader({
      messages: this.#messages,
      afterId,
      isCallerAwaited: () => this.#isCallerAwaited,
      onEmpty: (empty) => void this.#catchUp(empty),
      onReleased: (released) => this.#remove(released),
    })
    this.#readers.set(reader, find)
    void this.#catchUp(reader)
    return reader
  }

  /** Looks at everything that may have changed without a notice. */
  async look(): Promise<void> {
    this.#ask()
    // If the database is unavailable, the watch tries again.
    await this.#lookForEnd()
  }

  readerCount(): number {
    return this.#readers.size
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) this.#remove(reader)
  }

  /** Signals the owner that the run has readers, and reads the stream. */
  #ask(): void {
    const { channel, kind, runUuid } = this.#options
    this.#signalledAt = performance.now()
    channel.publish(kind, runUuid)
    this.#newest = undefined
    this.#catchUpAll()
  }

  #onNotice(notice: string): void {
    const [state, id] = notice.split(' ')
    this.#hasNews = true
    this.#isCallerAwaited = state === 'awaiting'
    if (state === 'ended') {
      this.#isEndAnnounced = true
      return void this.#lookForEnd()
    }
    this.#newest = id
    this.#catchUpAll()
  }

  #catchUpAll(): void {
    for (const reader of this.#readers.keys()) void this.#catchUp(reader)
  }

  /** Fetches further batches for a reader that has taken everything. */
  async #catchUp(reader: RemoteReader): Promise<void> {
    if (this.#isEnded || (this.#isEndAnnounced && reader.isWaiting())) await this.#lookForEnd()
    if (this.#isEnded) return
    if (this.#options.kind === 'present' || this.#fetching.has(reader)) return
    this.#fetching.add(reader)
    try {
      while (reader.isWaiting() && reader.cursor !== this.#newest) {
        const announced = this.#newest
        const batches = await this.#fetch(reader)
        if (!this.#readers.has(reader)) break
        if (batches.length === 0 && announced === this.#newest) break
        if (!batches.every((batch) => this.#hand(reader, batch))) break
      }
    } catch {
      // The watch tries again.
    }
    this.#fetching.delete(reader)
  }

  /** Readers at the same place share the result. */
  #fetch({ cursor, wanted }: RemoteReader): Promise<StreamBatch[]> {
    const { redis, key } = this.#options
    const name = `${cursor} ${wanted} ${this.#newest}`
    const shared = this.#fetches.get(name)
    if (shared) return shared
    const fetched = redis
      .xrange(key, `(${cursor}`, '+', 'COUNT', wanted)
      .then((entries) => entries.map(readBatch))
      .finally(() => this.#fetches.delete(name))
    this.#fetches.set(name, fetched)
    return fetched
  }

  /** Returns false if the reader has no room for further batches, or has missed events. */
  #hand(reader: RemoteReader, batch: StreamBatch): boolean {
    if (reader.isFull()) return false
    this.#hasNews = true
    const { from, messages } = batch
    const known = this.#messages.length
    if (from.messages <= known)
      for (const message of messages.slice(known - from.messages)) this.#messages.push(message)
    if (from.messages <= known && reader.accept(batch)) return true
    // A Redis that failed over may have lost batches. The owner then writes the stream again, from its start, with other
    // ends of batches: what the reader has missed may be in a batch before its cursor.
    reader.cursor = beforeStream
    const { redis, key } = this.#options
    redis.unlink(key).catch(() => undefined)
    return false
  }

  #remove(reader: RemoteReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return
    clearTimeout(this.#timer)
    this.#unlisten()
    this.#options.onUnread()
  }

  #plan(): void {
    this.#timer = setTimeout(() => void this.#watch(), this.#waitMs).unref()
  }

  /** Finds what no notice has announced, because the owner, the stream or Redis is gone. */
  async #watch(): Promise<void> {
    const { signalMs, watchMs, longestWatchMs } = this.#options.times
    const wasSilent = !this.#hasNews
    this.#hasNews = false
    this.#waitMs = wasSilent ? Math.min(this.#waitMs * watchGrowth, longestWatchMs) : watchMs
    if (wasSilent) await this.look()
    else if (performance.now() - this.#signalledAt >= signalMs) this.#ask()
    if (this.#readers.size > 0) this.#plan()
  }

  /** Readers that have taken everything continue with the stored event log once the run has ended in the database. */
  async #lookForEnd(): Promise<void> {
    const [first] = this.#waiting()
    const find = first && this.#readers.get(first)
    const found = await find?.().catch(() => undefined)
    if (found === 'active') this.#isEndAnnounced = false
    if (found === undefined || found === 'active') return
    this.#isEnded = true
    const log = found === 'deleted' ? noEvents : found
    for (const reader of this.#waiting()) {
      reader.continueWith(storedReader(this.#options.codec, log, reader.lastId))
      this.#remove(reader)
    }
  }

  #waiting(): RemoteReader[] {
    return [...this.#readers.keys()].filter((reader) => reader.isWaiting())
  }
}

/** A reader buffers about 32,768 characters of events, or one larger batch. */
export interface RemoteReaderOptions {
  messages: readonly string[]
  afterId: number
  isCallerAwaited(): boolean
  /** Called when all received events were taken. */
  onEmpty(reader: RemoteReader): void
  onReleased(reader: RemoteReader): void
}

const maxWanted = 16

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
    this.wanted = Math.min(maxWanted, Math.max(1, Math.floor(batchCharacters / characters)))
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
