/**
 * The event logs of several servers. The owner of a run keeps its event log in memory, and publishes it to Redis only
 * while another server follows the run. A follower that gets nothing from Redis finds the end in the database.
 */
import type { EventCodec, RunEventLog } from '../../../features/runs/ports.ts'
import { createRunEventLog } from '../../in-process/run-event-log.ts'
import type { RedisConnections } from '../connections.ts'
import type { SignalChannel } from '../signals.ts'
import { OwnedRun } from './owned-run.ts'
import { type FollowTimes, RemoteReader } from './remote-reader.ts'

export interface SharedRunEventLogOptions {
  connections: RedisConnections
  channel: SignalChannel
  codec: EventCodec
  maxBytes: number
  times?: Partial<EventLogTimes>
}

export interface EventLogTimes extends FollowTimes {
  /** Without a signal from a follower for this long, the run has no readers on other servers. */
  unheardMs: number
}

export interface SharedRunEventLog extends RunEventLog {
  close(): void
}

const usualTimes: EventLogTimes = { signalMs: 10_000, unheardMs: 25_000, watchMs: 1_500 }

export function createSharedRunEventLog(options: SharedRunEventLogOptions): SharedRunEventLog {
  const { connections, channel, codec } = options
  const times = { ...usualTimes, ...options.times }
  const { events: redis, prefix } = connections
  const local = createRunEventLog(options.maxBytes)
  const owned = new Map<string, OwnedRun>()
  const followers = new Set<RemoteReader>()
  const keyOf = (runUuid: string) => `${prefix}:events:${runUuid}`

  const dropHere = (runUuid: string) => {
    local.drop(runUuid)
    // A dead owner may have left it. Without Redis, the stream expires.
    redis.unlink(keyOf(runUuid)).catch(() => undefined)
  }
  /** Returns true if the run has ended here without a sign for the follower. */
  const isEndedHere = (runUuid: string): boolean => {
    const reader = local.follow(runUuid, Number.MAX_SAFE_INTEGER)
    reader?.release()
    return reader !== undefined
  }
  for (const kind of ['follow', 'present'] as const)
    channel.on(kind, (runUuid) => {
      const run = owned.get(runUuid)
      if (run) run.noteFollower(kind === 'follow')
      else if (isEndedHere(runUuid)) redis.publish(keyOf(runUuid), 'ended').catch(() => undefined)
    })
  channel.on('drop', dropHere)
  channel.on('opened', (runUuid) => {
    for (const reader of followers) if (reader.runUuid === runUuid) void reader.look()
  })

  return {
    // A queued run may start on any server, so its readers follow it like a run of another server.
    expect: () => undefined,
    forget: () => undefined,
    drop(runUuid) {
      dropHere(runUuid)
      channel.publish('drop', runUuid)
    },
    open(runUuid, onListeners, isAwaited) {
      const run = new OwnedRun({
        redis,
        key: keyOf(runUuid),
        writer: local.open(runUuid, onListeners),
        represent: () => local.follow(runUuid, Number.MAX_SAFE_INTEGER),
        unheardMs: times.unheardMs,
        onClosed: () => void owned.delete(runUuid),
      })
      owned.set(runUuid, run)
      if (isAwaited === true) channel.publish('opened', runUuid)
      return run
    },
    follow: (runUuid, afterId) => local.follow(runUuid, afterId),
    followElsewhere(runUuid, afterId, find) {
      const onReleased = (reader: RemoteReader) => void followers.delete(reader)
      const key = keyOf(runUuid)
      const reader = new RemoteReader({ runUuid, afterId, find, key, redis, channel, codec, times, onReleased })
      followers.add(reader)
      return reader
    },
    readerCount: () => followers.size + local.readerCount(),
    close() {
      for (const reader of followers) reader.release()
      for (const run of owned.values()) run.stop()
    },
  }
}
