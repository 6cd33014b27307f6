/**
 * The event logs of several servers. The owner of a run keeps its event log in memory, and publishes it to Redis only
 * while another server follows the run. A follower that gets nothing from Redis finds the end in the database.
 */
import type { EventCodec, RunEventLog } from '../../../features/runs/ports.ts'
import type { Logger } from '../../../shared/logger.ts'
import { createRunEventLog } from '../../in-process/run-event-log.ts'
import type { RedisConnections } from '../connections.ts'
import type { SignalChannel } from '../signal-channel.ts'
import { createEndWatch, type EndWatch } from './end-watch.ts'
import { EventHub } from './event-hub.ts'
import { FollowedRun, type FollowTimes } from './followed-run.ts'
import { createOwnedLogs, streamKey } from './owned-logs.ts'

export interface SharedRunEventLogOptions {
  connections: RedisConnections
  channel: SignalChannel
  codec: EventCodec
  maxBytes: number
  log: Logger
  times?: Partial<EventLogTimes>
}

export interface EventLogTimes extends FollowTimes {
  /** The owner stops publishing if no follower signals for this long. */
  unheardMs: number
}

export interface SharedRunEventLog extends RunEventLog {
  close(): Promise<void>
}

const usualTimes: EventLogTimes = { signalMs: 10_000, unheardMs: 25_000, watchMs: 1_000, longestWatchMs: 3_000 }

export function createSharedRunEventLog(options: SharedRunEventLogOptions): SharedRunEventLog {
  const { connections, channel, codec, log } = options
  const times = { ...usualTimes, ...options.times }
  const local = createRunEventLog(options.maxBytes)
  const owned = createOwnedLogs({ local, connections, channel, unheardMs: times.unheardMs })
  const followed = new Map<string, FollowedRun>()
  const endWatches = new Map<string, EndWatch>()
  const onReconnected = () => {
    for (const run of followed.values()) run.restart()
  }
  const hub = new EventHub({ connections, log, onReconnected })

  const dropHere = (runUuid: string) => {
    owned.drop(runUuid)
    local.drop(runUuid)
  }
  channel.on('drop', dropHere)
  channel.on('opened', (runUuid) => {
    followed.get(runUuid)?.signal()
    endWatches.get(runUuid)?.signal()
  })

  const follow = (runUuid: string): FollowedRun => {
    const onUnread = () => void followed.delete(runUuid)
    const key = streamKey(connections.prefix, runUuid)
    const run = followed.get(runUuid) ?? new FollowedRun({ runUuid, key, hub, channel, codec, times, onUnread })
    followed.set(runUuid, run)
    return run
  }
  const watchEnd = (runUuid: string): EndWatch => {
    const onUnread = () => void endWatches.delete(runUuid)
    const { signalMs } = times
    const watch = endWatches.get(runUuid) ?? createEndWatch({ runUuid, channel, signalMs, onUnread })
    endWatches.set(runUuid, watch)
    return watch
  }

  return {
    // A queued run may start on any server, so its readers follow it like a run of another server.
    expect: () => undefined,
    forget: () => undefined,
    drop(runUuid) {
      dropHere(runUuid)
      // The owner has the events in memory, and publishes them again if a follower asks.
      channel.publish('drop', runUuid)
    },
    open: owned.open,
    follow: (runUuid, afterId) => local.follow(runUuid, afterId),
    followElsewhere(runUuid, afterId, find) {
      // This reader skips all events, so the owner need not publish them.
      if (afterId === Number.MAX_SAFE_INTEGER) return watchEnd(runUuid).follow(find)
      return follow(runUuid).follow(afterId, find)
    },
    readerCount() {
      const remote = [...followed.values(), ...endWatches.values()]
      return remote.reduce((sum, run) => sum + run.readerCount(), local.readerCount())
    },
    async close() {
      for (const run of [...followed.values()]) run.close()
      for (const watch of [...endWatches.values()]) watch.close()
      hub.close()
      await owned.close()
    },
  }
}
