/**
 * The event logs of several servers. The owner of a run keeps its event log in memory, and publishes it to Redis only
 * while another server follows the run. A follower that gets nothing from Redis finds the end in the database.
 */
import type { EventCodec, RunEventLog } from '../../../features/runs/ports.ts'
import { createRunEventLog } from '../../in-process/run-event-log.ts'
import type { RedisConnections } from '../connections.ts'
import type { SignalChannel } from '../signals.ts'
import { FollowedRun, type FollowTimes } from './followed-run.ts'
import { OwnedRun } from './owned-run.ts'

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

const kinds = ['follow', 'present'] as const
const usualTimes: EventLogTimes = { signalMs: 10_000, unheardMs: 25_000, watchMs: 1_000, longestWatchMs: 3_000 }

export function createSharedRunEventLog(options: SharedRunEventLogOptions): SharedRunEventLog {
  const { connections, channel, codec } = options
  const times = { ...usualTimes, ...options.times }
  const { events: redis, prefix } = connections
  const local = createRunEventLog(options.maxBytes)
  const owned = new Map<string, OwnedRun>()
  /** By kind and run. */
  const followed = new Map<string, FollowedRun>()
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
  const onSignal = (runUuid: string, note: (run: OwnedRun) => void) => {
    const run = owned.get(runUuid)
    if (run) note(run)
    else if (isEndedHere(runUuid)) redis.publish(keyOf(runUuid), 'ended').catch(() => undefined)
  }
  channel.on('present', (runUuid) => onSignal(runUuid, (run) => run.notePresence()))
  channel.on('follow', (runUuid) => onSignal(runUuid, (run) => run.noteFollower()))
  channel.on('drop', dropHere)
  channel.on('opened', (runUuid) => {
    for (const kind of kinds) void followed.get(`${kind} ${runUuid}`)?.look()
  })

  const follow = (kind: (typeof kinds)[number], runUuid: string): FollowedRun => {
    const name = `${kind} ${runUuid}`
    const known = followed.get(name)
    if (known) return known
    const onUnread = () => void followed.delete(name)
    const key = keyOf(runUuid)
    const run = new FollowedRun({ runUuid, kind, key, redis, channel, codec, times, onUnread })
    followed.set(name, run)
    return run
  }

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
      // A reader that skips all events only waits for the end.
      const kind = afterId === Number.MAX_SAFE_INTEGER ? 'present' : 'follow'
      return follow(kind, runUuid).follow(afterId, find)
    },
    readerCount() {
      return [...followed.values()].reduce((sum, run) => sum + run.readerCount(), local.readerCount())
    },
    close() {
      for (const run of [...followed.values()]) run.close()
      for (const run of owned.values()) run.stop()
    },
  }
}
