/** A reader of a run of another server: reads the run's Redis Stream batch by batch, and its end from the database. */
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
import { type Repeated, repeat } from '../../../shared/clock.ts'
import type { SignalChannel } from '../signals.ts'
import { beforeStream, type EventBatch, readBatch } from './owned-run.ts'

export interface FollowTimes {
  /** Followers signal this often that they are there. */
  signalMs: number
  /** A follower without news since its last look signals, and looks for the end in the database. */
  watchMs: number
}

export interface RemoteReaderOptions {
  runUuid: string
  /** With `Number.MAX_SAFE_INTEGER`, the reader only waits for the end. */
  afterId: number
  find: FindEnd
  key: string
  redis: Redis
  channel: SignalChannel
  codec: EventCodec
  times: FollowTimes
  onReleased(reader: RemoteReader): void
}

const noEvents: StoredLog = { messages: [], entries: [] }

export class RemoteReader implements RunLogReader {
  readonly runUuid: string
  readonly #options: RemoteReaderOptions
  readonly #unlisten: () => void
  readonly #watching: Repeated
  readonly #messages: string[] = []
  /** At most one batch, so that a client that does not read costs little memory. */
  #held: readonly LogEntry[] = []
  #place = 0
  /** The id of the last event that was received. */
  #lastId: number
  /** The id of the last batch that was read from the stream. */
  #cursor = beforeStream
  /** The id of the stream's newest batch. Undefined if it may have a newer one than the last notice said. */
  #newest: string | undefined
  #stored: RunLogReader | undefined
  #isReading = false
  #isCallerAwaited = false
  #isEndAnnounced = false
  #isReleased = false
  #hasNews = true
  #signalledAt = Number.NEGATIVE_INFINITY
  #wake: (() => void) | undefined
  #listener: (() => void) | undefined

  constructor(options: RemoteReaderOptions) {
    const { runUuid, afterId, channel, key, times } = options
    this.runUuid = runUuid
    this.#options = options
    this.#lastId = afterId
    this.#unlisten = channel.listen(key, {
      onMessage: (notice) => this.#onNotice(notice),
      // Only now: the owner's answer to an earlier signal would be missed.
      onListening: () => this.#ask(),
    })
    this.#watching = repeat(times.watchMs, () => this.#watch())
  }

  get messages(): readonly string[] {
    return this.#stored?.messages ?? this.#messages
  }

  take(limit: number): readonly (LogEntry | StoredFrames)[] {
    if (this.#stored) return this.#stored.take(limit)
    const taken = this.#held.slice(this.#place, this.#place + limit)
    this.#place += taken.length
    if (taken.length > 0) void this.#read()
    return taken
  }

  changed(): Promise<void> {
    if (!this.#isWaiting()) return Promise.resolve()
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
    return !this.#stored && this.#isCallerAwaited
  }

  // Bound to the reader, because callers may pass this method on alone.
  readonly release = (): void => {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#listener = undefined
    void this.#watching.stop()
    this.#unlisten()
    this.#options.onReleased(this)
    this.#wake?.()
  }

  /** Looks at everything that may have changed without a notice. */
  async look(): Promise<void> {
    this.#ask()
    await this.#lookForEnd()
  }

  /** Signals the owner that the run has a reader, and reads the stream. */
  #ask(): void {
    const { channel, runUuid, afterId } = this.#options
    this.#signalledAt = performance.now()
    channel.publish(afterId === Number.MAX_SAFE_INTEGER ? 'present' : 'follow', runUuid)
    this.#newest = undefined
    void this.#read()
  }

  #onNotice(notice: string): void {
    const [state, id] = notice.split(' ')
    this.#hasNews = true
    this.#isCallerAwaited = state === 'awaiting'
    if (state === 'ended') this.#isEndAnnounced = true
    else this.#newest = id
    void this.#read()
  }

  /** True if all received events were taken, and more may come from the stream. */
  #isWaiting(): boolean {
    return this.#place >= this.#held.length && !this.#stored && !this.#isReleased
  }

  /** Reads on once everything was taken: the next batch of the stream, or the stored event log. */
  async #read(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    const { redis, key, afterId } = this.#options
    try {
      while (this.#isWaiting()) {
        if (this.#isEndAnnounced) await this.#lookForEnd()
        const announced = this.#newest
        if (afterId === Number.MAX_SAFE_INTEGER || this.#cursor === announced || !this.#isWaiting()) break
        const [next] = await redis.xrange(key, `(${this.#cursor}`, '+', 'COUNT', 1)
        const isAllRead = !next && announced === this.#newest && !this.#isEndAnnounced
        if (isAllRead || (next && this.#isWaiting() && !this.#add(...readBatch(next)))) break
      }
    } catch {
      // The watch tries again.
    }
    this.#isReading = false
  }

  /** Returns false if earlier events are missing. */
  #add(id: string, { from, messages, entries }: EventBatch): boolean {
    const known = this.#messages.length
    const [first] = entries
    if (from.messages > known || (first && from.entries > 0 && first.id > this.#lastId + 1)) {
      // A Redis that failed over may have lost batches. The owner then writes the stream again, from its start, with other
      // ends of batches: what is missing may be in a batch before the cursor.
      this.#cursor = beforeStream
      const { redis, key } = this.#options
      redis.unlink(key).catch(() => undefined)
      return false
    }
    this.#hasNews = true
    this.#cursor = id
    for (const message of messages.slice(known - from.messages)) this.#messages.push(message)
    const added = entries.filter((entry) => entry.id > this.#lastId)
    if (added.length > 0) this.#hold(added)
    return true
  }

  #hold(added: readonly LogEntry[]): void {
    this.#held = added
    this.#place = 0
    this.#lastId = added.at(-1)?.id ?? this.#lastId
    this.#notify()
  }

  /** Finds what no notice has announced, because the owner, the stream or Redis is gone. */
  async #watch(): Promise<void> {
    const wasSilent = !this.#hasNews
    this.#hasNews = false
    if (wasSilent) await this.look()
    else if (performance.now() - this.#signalledAt >= this.#options.times.signalMs) this.#ask()
  }

  /** A reader that has taken everything continues with the stored event log once the run has ended in the database. */
  async #lookForEnd(): Promise<void> {
    if (!this.#isWaiting()) return
    this.#isEndAnnounced = false
    // If the database is unavailable, the watch tries again.
    const found = await this.#options.find().catch(() => undefined)
    if (found === undefined || found === 'active') return
    if (!this.#isWaiting()) {
      // A batch has arrived meanwhile. The end is looked up again once it was taken.
      this.#isEndAnnounced = true
      return
    }
    this.#stored = storedReader(this.#options.codec, found === 'deleted' ? noEvents : found, this.#lastId)
    this.#notify()
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
    this.#listener?.()
  }
}
