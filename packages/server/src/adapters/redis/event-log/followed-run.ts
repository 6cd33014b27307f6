/** A run of another server, with all its readers on this server. They share messages, signals and the watch. */
import { storedReader } from '../../../features/runs/events/stored-events.ts'
import type { EventCodec, FindEnd, RunLogReader } from '../../../features/runs/ports.ts'
import type { SignalChannel } from '../signal-channel.ts'
import { beforeStream, isAfter, type StreamBatch } from './event-batch.ts'
import type { EventHub } from './event-hub.ts'
import { RemoteReader } from './remote-reader.ts'

export interface FollowTimes {
  /** Followers signal this often that they have readers. */
  signalMs: number
  /** Without events for this long, a follower checks the database. The interval grows up to `longestWatchMs`. */
  watchMs: number
  longestWatchMs: number
}

export interface FollowedRunOptions {
  runUuid: string
  key: string
  hub: EventHub
  channel: SignalChannel
  codec: EventCodec
  times: FollowTimes
  onUnread(): void
}

const watchGrowth = 1.5
const againEveryMs = 1_000
const lookAtLastMs = 20_000

export class FollowedRun {
  readonly #options: FollowedRunOptions
  readonly #messages: string[] = []
  /** Readers that may get events from the stream, each with its lookup of the run's end in the database. */
  readonly #readers = new Map<RemoteReader, FindEnd>()
  /** Readers that have received everything so far, so the hub delivers new batches to them. */
  readonly #atLiveEdge = new Set<RemoteReader>()
  readonly #fetching = new Set<RemoteReader>()
  /** Readers that have missed events and wait until the owner repeats them. */
  readonly #missing = new Set<RemoteReader>()
  /** The id of the newest batch, which sets `#isCallerAwaited`. */
  #newest = beforeStream
  #isCallerAwaited = false
  #hasNews = true
  #waitMs: number
  #signalledAt = Number.NEGATIVE_INFINITY
  #againAt = Number.NEGATIVE_INFINITY
  #lookedAt = performance.now()
  #timer: NodeJS.Timeout | undefined

  constructor(options: FollowedRunOptions) {
    this.#options = options
    this.#waitMs = options.times.watchMs
  }

  follow(afterId: number, find: FindEnd): RunLogReader {
    const reader = new RemoteReader({
      messages: this.#messages,
      afterId,
      isCallerAwaited: () => this.#isAwaited(),
      onEmpty: (empty) => void this.#catchUp(empty),
      onReleased: (released) => this.#remove(released),
    })
    this.#readers.set(reader, find)
    if (this.#readers.size === 1) {
      this.signal()
      this.#plan()
    }
    void this.#catchUp(reader)
    return reader
  }

  /** Asks the owner to publish the events. */
  signal(): void {
    this.#signalledAt = performance.now()
    this.#options.channel.publish('follow', this.#options.runUuid)
  }

  readerCount(): number {
    return this.#readers.size
  }

  /** Reads the stream from its start, because Redis may have lost it. */
  restart(): void {
    this.#newest = beforeStream
    this.signal()
    for (const reader of this.#readers.keys()) {
      reader.restart()
      this.#leaveEdge(reader)
      if (reader.isWaiting()) void this.#catchUp(reader)
    }
  }

  close(): void {
    for (const reader of [...this.#readers.keys()]) this.#remove(reader)
  }

  /** Fetches further batches for an empty reader. At the live edge, the hub delivers them. */
  async #catchUp(reader: RemoteReader): Promise<void> {
    if (this.#atLiveEdge.has(reader) || this.#fetching.has(reader)) return
    this.#fetching.add(reader)
    try {
      while (this.#readers.has(reader) && reader.isWaiting()) {
        const batches = await this.#options.hub.read(this.#options.key, reader.cursor, reader.wanted)
        if (!this.#readers.has(reader)) break
        if (batches.length === 0 && this.#joinEdge(reader)) break
        for (const batch of batches) if (!this.#hand(reader, batch, this.#note(batch))) break
      }
    } catch {
      // The watch tries again.
    }
    this.#fetching.delete(reader)
  }

  #joinEdge(reader: RemoteReader): boolean {
    const { hub, key } = this.#options
    const cursor = hub.cursorOf(key)
    if (cursor !== undefined && isAfter(cursor, reader.cursor)) return false
    this.#atLiveEdge.add(reader)
    if (cursor === undefined) hub.join(key, reader.cursor, (batches) => this.#deliver(batches))
    return true
  }

  #leaveEdge(reader: RemoteReader): void {
    const { hub, key } = this.#options
    if (this.#atLiveEdge.delete(reader) && this.#atLiveEdge.size === 0) hub.leave(key)
  }

  #deliver(batches: readonly StreamBatch[]): void {
    for (const batch of batches) {
      const hasMessages = this.#note(batch)
      for (const reader of this.#atLiveEdge) if (!this.#hand(reader, batch, hasMessages)) this.#leaveEdge(reader)
    }
  }

  /** Adds the batch's messages. Returns false if earlier messages are missing. */
  #note(batch: StreamBatch): boolean {
    this.#hasNews = true
    this.#noteFlag(batch)
    const known = this.#messages.length
    const from = batch.from.messages
    if (from > known) return false
    for (const message of batch.messages.slice(known - from)) this.#messages.push(message)
    return true
  }

  #noteFlag({ id, isCallerAwaited }: StreamBatch): void {
    if (!isAfter(id, this.#newest)) return
    this.#newest = id
    this.#isCallerAwaited = isCallerAwaited
  }

  /** Returns false if the reader has no room for the batch. */
  #hand(reader: RemoteReader, batch: StreamBatch, hasMessages: boolean): boolean {
    if (!isAfter(batch.id, reader.cursor)) return true
    const result = reader.accept(batch, hasMessages)
    if (result === 'accepted') this.#missing.delete(reader)
    else if (result === 'ended') this.#remove(reader)
    else if (result === 'gap') {
      this.#missing.add(reader)
      this.#askAgain()
    }
    return result !== 'full'
  }

  #askAgain(): void {
    const now = performance.now()
    if (now - this.#againAt < againEveryMs) return
    this.#againAt = now
    this.#options.channel.publish('again', this.#options.runUuid)
  }

  #remove(reader: RemoteReader): void {
    if (!this.#readers.delete(reader)) return
    this.#leaveEdge(reader)
    this.#missing.delete(reader)
    if (this.#readers.size > 0) return
    clearTimeout(this.#timer)
    this.#options.onUnread()
  }

  #plan(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#watch(), this.#waitMs).unref()
  }

  async #watch(): Promise<void> {
    const { signalMs, watchMs, longestWatchMs } = this.#options.times
    const wasSilent = !this.#hasNews
    this.#hasNews = false
    this.#waitMs = wasSilent ? Math.min(this.#waitMs * watchGrowth, longestWatchMs) : watchMs
    // The signal may have been lost, so it is repeated after silence.
    if (wasSilent || performance.now() - this.#signalledAt >= signalMs) this.signal()
    if (this.#missing.size > 0) this.#askAgain()
    for (const reader of this.#readers.keys()) if (reader.isWaiting()) void this.#catchUp(reader)
    // If the database is unavailable, the next round tries again.
    if (wasSilent) await this.#lookForEnd().catch(() => undefined)
    if (this.#readers.size > 0) this.#plan()
  }

  /** Finds an end that does not arrive through Redis, because the owner, the stream or Redis is gone. */
  async #lookForEnd(): Promise<void> {
    const waiting = [...this.#readers].filter(([reader]) => reader.isWaiting())
    const [first] = waiting
    if (!first) return
    const [, find] = first
    const found = await find()
    if (found === 'active') return
    if (found === 'deleted') {
      for (const reader of [...this.#readers.keys()]) {
        reader.end()
        this.#remove(reader)
      }
      return
    }
    for (const [reader] of waiting) {
      if (!reader.isWaiting()) continue
      reader.continueWith(storedReader(this.#options.codec, found, reader.lastId))
      this.#remove(reader)
    }
  }

  /** Stalled readers receive no batches, so the flag is read from the last batch of the stream. */
  #isAwaited(): boolean {
    const { hub, key } = this.#options
    const now = performance.now()
    if (this.#atLiveEdge.size === 0 && now - this.#lookedAt >= lookAtLastMs) {
      this.#lookedAt = now
      hub.readLast(key).then(
        (batch) => batch && this.#noteFlag(batch),
        () => undefined,
      )
    }
    return this.#isCallerAwaited
  }
}
