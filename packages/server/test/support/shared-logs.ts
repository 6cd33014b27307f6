/** Event logs of several servers on the Redis under test, and the reading of a run to its end. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { connectRedis, type RedisConnections } from '../../src/adapters/redis/connections.ts'
import {
  createSharedRunEventLog,
  type EventLogTimes,
  type SharedRunEventLog,
} from '../../src/adapters/redis/event-log/run-event-log.ts'
import { createSignalChannel, type SignalChannel } from '../../src/adapters/redis/signals.ts'
import { framesOf } from '../../src/features/runs/events/watch-run.ts'
import type { FindEnd, LogEntry, RunLogReader, RunLogWriter } from '../../src/features/runs/ports.ts'
import type { Logger } from '../../src/shared/telemetry.ts'
import { eventCodec } from '../../src/wire/event-log-format.ts'
import { clientFrames, type LegacyClient } from '../../src/wire/legacy-clients.ts'

export const redisUrl = process.env['STET_TEST_REDIS_URL'] ?? ''

export const silent: Logger = { error() {}, warn() {}, info() {}, debug() {} }

export interface LogServer {
  log: SharedRunEventLog
  connections: RedisConnections
  channel: SignalChannel
}

export interface LogServers {
  servers: LogServer[]
  prefix: string
  /** Deletes everything that these servers have stored in Redis. */
  flush(): Promise<void>
  close(): Promise<void>
}

export interface LogServersOptions {
  /** The Redis address of each server. */
  urls: readonly string[]
  prefix?: string
  times?: Partial<EventLogTimes>
}

/** Short intervals, so that tests of lost signals and streams are fast. */
export const shortTimes: EventLogTimes = { signalMs: 500, unheardMs: 5_000, watchMs: 40 }

export async function logServers({ urls, times, ...options }: LogServersOptions): Promise<LogServers> {
  const prefix = options.prefix ?? `stet-test-${randomUUID()}`
  const servers = urls.map((url): LogServer => {
    const connections = connectRedis({ url, prefix, timeoutMs: 1_000 }, silent)
    const channel = createSignalChannel(connections)
    const settings = { codec: eventCodec, maxBytes: 10_000_000, ...(times && { times }) }
    return { connections, channel, log: createSharedRunEventLog({ connections, channel, ...settings }) }
  })
  for (const { channel, connections } of servers) {
    await until(() => connections.events.status === 'ready' && connections.requests.status === 'ready')
    await until(async () => (await channel.countServers().catch(() => 0)) >= servers.length)
  }
  const flush = () => deleteKeys(prefix)
  return {
    servers,
    prefix,
    flush,
    async close() {
      for (const { log } of servers) log.close()
      for (const { connections } of servers) await connections.close()
      await flush()
    },
  }
}

/** Deletes everything in Redis whose name starts with the prefix. */
export async function deleteKeys(prefix: string): Promise<void> {
  const { events, close } = connectRedis({ url: redisUrl, prefix, timeoutMs: 1_000 }, silent)
  await until(() => events.status === 'ready')
  const keys = await events.keys(`${prefix}:*`)
  if (keys.length > 0) await events.unlink(...keys)
  await close()
}

const deadlineMs = 30_000

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error('Redis did not become ready')
    await delay(10)
  }
}

/** The state of a run in the database. */
export interface StoredEnd {
  found: Awaited<ReturnType<FindEnd>>
  find: FindEnd
  looks: number
}

export function activeRun(): StoredEnd {
  const stored: StoredEnd = {
    found: 'active',
    looks: 0,
    find: async () => {
      stored.looks += 1
      return stored.found
    },
  }
  return stored
}

/** A provider-event, as the codec encodes it. */
export function providerEntry(id: number, text = `${id}`): LogEntry {
  return { id, pieces: `event: provider-event\ndata: {"text":"${text}"}\nid: ${id}\n\n` }
}

/** A latitude-event that shows the first `covers` messages. */
export function latitudeEntry(id: number, type: string, covers: number): LogEntry {
  const head = `event: latitude-event\ndata: {"type":"${type}","messages":[`
  return { id, pieces: [head, [0, covers], `]}\nid: ${id}\n\n`] }
}

/** Stores the event log as at a run's end, so that the database has it before any reader. */
export async function store(stored: StoredEnd, writer: RunLogWriter, terminal: readonly LogEntry[]): Promise<void> {
  const file = await eventCodec.packEventLog({ messages: writer.messages, entries: [...writer.entries, ...terminal] })
  const log = await eventCodec.unpackEventLog(file)
  if (!log) throw new Error('The event log was just packed')
  stored.found = log
}

export async function readAll(reader: RunLogReader, client?: LegacyClient): Promise<string> {
  const frames = framesOf(reader, clientFrames(client))
  const parts: Buffer[] = []
  await new Promise<void>((resolve) => {
    const read = () => {
      for (let part = frames.take(); part.length > 0; part = frames.take()) parts.push(Buffer.from(part))
      if (frames.isAtEnd()) resolve()
    }
    frames.listen(read)
    read()
  })
  reader.release()
  return Buffer.concat(parts).toString('utf8')
}

export const idsIn = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
