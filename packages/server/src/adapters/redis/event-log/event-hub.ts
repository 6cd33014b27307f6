/** Reads the Redis Streams of all runs that this server follows, over one blocking connection. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Logger } from '../../../shared/logger.ts'
import type { RedisConnections } from '../connections.ts'
import { beforeStream, readBatch, type StreamBatch } from './event-batch.ts'

export interface HubOptions {
  connections: RedisConnections
  log: Logger
  /** Called after every reconnect. Redis may have lost its streams, so their ids may have started over. */
  onReconnected(): void
}

type Deliver = (batches: readonly StreamBatch[]) => void
type Entry = [id: string, fields: string[]]
type Streams = [key: string, entries: Entry[]][]

const blockMs = 1_000
const silenceMs = 3_000
const retryMs = 250
/** The batches of one read, divided among the streams. Each stream may return at least one. */
const batchesPerRead = 16
/** Limits the memory for batches that readers fetch at the same time. */
const readsAtOnce = 8
const controlSeconds = 60

export class EventHub {
  readonly #options: HubOptions
  readonly #joined = new Map<string, { cursor: string; deliver: Deliver }>()
  readonly #pending = new Map<string, Promise<readonly StreamBatch[]>>()
  readonly #limited = limit(readsAtOnce)
  /** An entry in this stream ends a blocking read, so that the next read includes newly joined streams. */
  readonly #control: string
  #controlCursor = beforeStream
  #isInterrupted = false
  #connection: Redis | undefined
  #isReading = false
  #isClosed = false

  constructor(options: HubOptions) {
    this.#options = options
    this.#control = `${options.connections.prefix}:hub:${randomUUID()}`
  }

  /** Delivers the batches after `cursor`, until `leave`. */
  join(key: string, cursor: string, deliver: Deliver): void {
    this.#joined.set(key, { cursor, deliver })
    if (this.#isReading) this.#interrupt()
    else if (!this.#isClosed) void this.#readOn()
  }

  leave(key: string): void {
    this.#joined.delete(key)
  }

  /** Returns the id of the last delivered batch, or undefined if the stream is not joined. */
  cursorOf(key: string): string | undefined {
    return this.#joined.get(key)?.cursor
  }

  /** Returns up to `count` batches after `cursor`. Readers with the same cursor share the result. */
  read(key: string, cursor: string, count: number): Promise<readonly StreamBatch[]> {
    const { events } = this.#options.connections
    const name = `${key} ${cursor} ${count}`
    const pending =
      this.#pending.get(name) ??
      this.#limited(() => events.xrange(key, `(${cursor}`, '+', 'COUNT', count))
        .then((entries) => this.#parse(entries as Entry[]))
        .finally(() => this.#pending.delete(name))
    this.#pending.set(name, pending)
    return pending
  }

  async readLast(key: string): Promise<StreamBatch | undefined> {
    const { events } = this.#options.connections
    const entries = (await this.#limited(() => events.xrevrange(key, '+', '-', 'COUNT', 1))) as Entry[]
    return this.#parse(entries)[0]
  }

  close(): void {
    this.#isClosed = true
    this.#connection?.disconnect()
  }

  // Connects only for the first reader, because many servers never follow a run of another server.
  #connect(): Redis {
    const opened = this.#options.connections.open({ commandTimeout: silenceMs, maxRetriesPerRequest: null })
    let wasReady = false
    opened.on('ready', () => {
      if (wasReady) this.#options.onReconnected()
      wasReady = true
    })
    return opened
  }

  async #readOn(): Promise<void> {
    this.#isReading = true
    this.#connection ??= this.#connect()
    while (this.#joined.size > 0 && !this.#isClosed) {
      try {
        await this.#readJoined(this.#connection)
      } catch (error) {
        // Reconnects, because a frozen Redis would also answer the next commands late.
        if (error instanceof Error && error.message === 'Command timed out') this.#connection.disconnect(true)
        await pause(retryMs, undefined, { ref: false })
      }
    }
    this.#isReading = false
  }

  async #readJoined(redis: Redis): Promise<void> {
    const asked = [...this.#joined].map(([key, { cursor }]) => ({ key, cursor }))
    const count = Math.max(1, Math.floor(batchesPerRead / asked.length))
    const cursors = new Map([[this.#control, this.#controlCursor]])
    for (const { key, cursor } of asked) cursors.set(key, cursor)
    this.#isInterrupted = false
    const streams = [...cursors.keys(), ...cursors.values()]
    const reply = await redis.xread('COUNT', count, 'BLOCK', blockMs, 'STREAMS', ...streams)
    for (const [key, entries] of (reply ?? []) as Streams) {
      const last = entries.at(-1)?.[0]
      if (last === undefined) continue
      if (key === this.#control) this.#controlCursor = last
      const stream = this.#joined.get(key)
      // The stream may have been left in the meantime, or joined again at another place.
      if (!stream || stream.cursor !== cursors.get(key)) continue
      stream.cursor = last
      stream.deliver(this.#parse(entries))
    }
  }

  #interrupt(): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    const pipeline = this.#options.connections.events.pipeline()
    pipeline.xadd(this.#control, 'MAXLEN', 1, '*', 'joined', '')
    // If this fails, the blocking read still ends within a second.
    pipeline
      .expire(this.#control, controlSeconds)
      .exec()
      .catch(() => undefined)
  }

  #parse(entries: readonly Entry[]): StreamBatch[] {
    const batches: StreamBatch[] = []
    for (const [id, [, text = '']] of entries) {
      try {
        batches.push(readBatch(id, text))
      } catch {
        this.#options.log.warn('events.unreadable-batch')
      }
    }
    return batches
  }
}

/** Runs at most `most` tasks at the same time. */
function limit(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let active = 0
  return async (task) => {
    if (active >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else active += 1
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else active -= 1
    }
  }
}
