/** Reads the Redis Streams of all runs that this server follows, over one blocking connection. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Logger } from '../../../shared/logger.ts'
import { failFast, type RedisConnections } from '../connections.ts'
import { beforeStream, readBatch, type StreamBatch } from './event-batch.ts'

export interface EventHub {
  /** Delivers the batches after `cursor`, until `leave`. */
  join(key: string, cursor: string, deliver: (batches: readonly StreamBatch[]) => void): void
  leave(key: string): void
  /** Returns the id of the last delivered batch. Returns undefined if the stream was not joined. */
  cursorOf(key: string): string | undefined
  /** Returns up to `count` batches after `cursor`. Readers with the same cursor share the result. */
  read(key: string, cursor: string, count: number): Promise<readonly StreamBatch[]>
  /** Returns the last batch of the stream. */
  readLast(key: string): Promise<StreamBatch | undefined>
  close(): void
}

interface HubOptions {
  connections: RedisConnections
  log: Logger
  /** Called after a connection to Redis was lost. The ids of its streams may have started over. */
  onReconnected(): void
}

interface Joined {
  cursor: string
  deliver(batches: readonly StreamBatch[]): void
}

type Entry = [id: string, fields: string[]]
type Streams = [key: string, entries: Entry[]][]

const blockMs = 1_000
const silenceMs = 3_000
const retryMs = 250
/** All streams together return about this many batches at once, and at least one each. */
const batchesPerRead = 16
/** Limits the memory for batches that readers fetch at the same time. */
const readsAtOnce = 8
const controlSeconds = 60

export function createEventHub({ connections, log, onReconnected }: HubOptions): EventHub {
  const { events, prefix } = connections
  const joined = new Map<string, Joined>()
  /** An entry in this stream ends a blocking read, so that the next read includes newly joined streams. */
  const control = `${prefix}:hub:${randomUUID()}`
  let controlCursor = beforeStream
  let isInterrupted = false
  let connection: Redis | undefined
  let isReading = false
  let isClosed = false

  const parse = (entries: readonly Entry[]): StreamBatch[] => {
    const batches: StreamBatch[] = []
    for (const [id, [, text = '']] of entries) {
      try {
        batches.push(readBatch(id, text))
      } catch {
        log.warn('events.unreadable-batch')
      }
    }
    return batches
  }
  // Opened by the first reader, because many servers never follow a run of another one.
  const connect = (): Redis => {
    const opened = connections.open({ ...failFast, commandTimeout: silenceMs })
    let wasReady = false
    opened.on('ready', () => {
      if (wasReady) onReconnected()
      wasReady = true
    })
    return opened
  }
  const readJoined = async (redis: Redis) => {
    const asked = [...joined].map(([key, { cursor }]) => ({ key, cursor }))
    const count = Math.max(1, Math.floor(batchesPerRead / asked.length))
    const keys = [control, ...asked.map(({ key }) => key)]
    const cursors = [controlCursor, ...asked.map(({ cursor }) => cursor)]
    isInterrupted = false
    const reply = await redis.xread('COUNT', count, 'BLOCK', blockMs, 'STREAMS', ...keys, ...cursors)
    for (const [key, entries] of (reply ?? []) as Streams) {
      const last = entries.at(-1)?.[0]
      if (last === undefined) continue
      if (key === control) controlCursor = last
      const stream = joined.get(key)
      // The stream may have been left in the meantime, or joined again at another place.
      if (!stream || stream.cursor !== cursors[keys.indexOf(key)]) continue
      stream.cursor = last
      stream.deliver(parse(entries))
    }
  }
  const readOn = async () => {
    isReading = true
    connection ??= connect()
    while (joined.size > 0 && !isClosed) {
      try {
        await readJoined(connection)
      } catch (error) {
        // A frozen Redis would answer later commands late as well.
        if (error instanceof Error && error.message === 'Command timed out') connection.disconnect(true)
        await pause(retryMs, undefined, { ref: false })
      }
    }
    isReading = false
  }
  const interrupt = () => {
    if (isInterrupted) return
    isInterrupted = true
    const pipeline = events.pipeline().xadd(control, 'MAXLEN', 1, '*', 'joined', '')
    // Without this entry, the next blocking read still begins within a second.
    pipeline
      .expire(control, controlSeconds)
      .exec()
      .catch(() => undefined)
  }

  const running = new Map<string, Promise<readonly StreamBatch[]>>()
  const limited = limit(readsAtOnce)
  return {
    join(key, cursor, deliver) {
      joined.set(key, { cursor, deliver })
      if (isReading) interrupt()
      else if (!isClosed) void readOn()
    },
    leave: (key) => void joined.delete(key),
    cursorOf: (key) => joined.get(key)?.cursor,
    read(key, cursor, count) {
      const name = `${key} ${cursor} ${count}`
      const pending =
        running.get(name) ??
        limited(() => events.xrange(key, `(${cursor}`, '+', 'COUNT', count))
          .then((entries) => parse(entries as Entry[]))
          .finally(() => running.delete(name))
      running.set(name, pending)
      return pending
    },
    async readLast(key) {
      const entries = (await limited(() => events.xrevrange(key, '+', '-', 'COUNT', 1))) as Entry[]
      return parse(entries)[0]
    },
    close() {
      isClosed = true
      connection?.disconnect()
    },
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
