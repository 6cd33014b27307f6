/** The event logs of this server's runs. Publishes those that other servers follow. */
import { setTimeout as pause } from 'node:timers/promises'
import type { LogEntry, RunEventLog, RunLogReader, RunLogWriter } from '../../../features/runs/ports.ts'
import type { RedisConnections } from '../connections.ts'
import type { SignalChannel } from '../signal-channel.ts'
import type { OwnedLog } from './event-batch.ts'
import { EventPublisher } from './event-publisher.ts'

export interface OwnedLogs {
  open: RunEventLog['open']
  /** Stops publishing and deletes the stream. */
  drop(runUuid: string): void
  /** Waits up to 500 ms until all events are published. */
  close(): Promise<void>
}

interface OwnedLogsOptions {
  local: RunEventLog
  connections: Pick<RedisConnections, 'events' | 'prefix'>
  channel: SignalChannel
  unheardMs: number
}

interface OpenLog {
  log: OwnedLog
  /** A local reader that represents all readers on other servers. */
  presence?: RunLogReader | undefined
  absence?: NodeJS.Timeout
}

const closeMs = 500

export const streamKey = (prefix: string, runUuid: string): string => `${prefix}:events:${runUuid}`

export function createOwnedLogs({ local, connections, channel, unheardMs }: OwnedLogsOptions): OwnedLogs {
  const { events: redis, prefix } = connections
  const open = new Map<string, OpenLog>()
  const publishers = new Map<string, EventPublisher>()

  const find = (runUuid: string) => open.get(runUuid)?.log ?? endedLog(local, runUuid)
  const notePresence = (runUuid: string) => {
    const own = open.get(runUuid)
    if (!own) return
    own.presence ??= local.follow(runUuid, Number.MAX_SAFE_INTEGER)
    own.absence ??= setTimeout(() => endPresence(own), unheardMs).unref()
    own.absence.refresh()
  }
  const publisherOf = (runUuid: string): EventPublisher | undefined => {
    const known = publishers.get(runUuid)
    if (known) return known
    const log = find(runUuid)
    if (!log) return undefined
    const onUnheard = () => {
      if (!open.has(runUuid)) stop(runUuid)
    }
    const key = streamKey(prefix, runUuid)
    const created = new EventPublisher({ redis, key, log, find: () => find(runUuid), unheardMs, onUnheard })
    publishers.set(runUuid, created)
    return created
  }
  const stop = (runUuid: string) => {
    publishers.get(runUuid)?.stop()
    publishers.delete(runUuid)
  }
  channel.on('present', notePresence)
  channel.on('follow', (runUuid) => {
    notePresence(runUuid)
    publisherOf(runUuid)?.hear()
  })
  channel.on('again', (runUuid) => publishers.get(runUuid)?.repeat())

  return {
    open(runUuid, onListeners, isAwaited) {
      const writer = local.open(runUuid, onListeners)
      const { messages, entries } = writer
      const own: OpenLog = { log: { messages, entries, isClosed: false, isCallerAwaited: false } }
      open.set(runUuid, own)
      if (isAwaited === true) channel.publish('opened', runUuid)
      return sharedWriter(writer, own.log, {
        changed: () => publishers.get(runUuid)?.wake(),
        closed: () => {
          open.delete(runUuid)
          endPresence(own)
          clearTimeout(own.absence)
          if (publishers.get(runUuid)?.isHeard === false) stop(runUuid)
        },
      })
    },
    drop(runUuid) {
      stop(runUuid)
      // On the connection of the publisher, so after everything that it has sent. Without Redis, the stream expires.
      redis.unlink(streamKey(prefix, runUuid)).catch(() => undefined)
    },
    async close() {
      const publishing = Promise.all([...publishers.values()].map((publisher) => publisher.published()))
      const overdue = pause(closeMs, undefined, { ref: false })
      await Promise.race([publishing, overdue])
      for (const runUuid of [...publishers.keys()]) stop(runUuid)
    },
  }
}

function endPresence(own: OpenLog): void {
  own.presence?.release()
  own.presence = undefined
}

function sharedWriter(
  writer: RunLogWriter,
  log: OwnedLog,
  { changed, closed }: { changed(): void; closed(): void },
): RunLogWriter {
  return {
    messages: writer.messages,
    entries: writer.entries,
    setCallerAwaited(isAwaited) {
      writer.setCallerAwaited(isAwaited)
      log.isCallerAwaited = isAwaited
    },
    append(messages, entries) {
      writer.append(messages, entries)
      changed()
    },
    close() {
      log.isClosed = true
      log.isCallerAwaited = false
      writer.close()
      closed()
      changed()
    },
  }
}

function endedLog(local: RunEventLog, runUuid: string): OwnedLog | undefined {
  const reader = local.follow(runUuid, 0)
  if (!reader) return undefined
  const entries = reader.take(Number.MAX_SAFE_INTEGER).filter((entry): entry is LogEntry => 'pieces' in entry)
  reader.release()
  return { messages: reader.messages, entries, isClosed: true, isCallerAwaited: false }
}
