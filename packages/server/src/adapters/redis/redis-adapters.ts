/** The live adapters of one of several servers. Loaded only with `REDIS_URL`. */
import type { Redis } from 'ioredis'
import type { EventCodec } from '../../features/runs/ports.ts'
import { type Repeated, repeat } from '../../shared/clock.ts'
import type { Logger } from '../../shared/telemetry.ts'
import type { LiveAdapters, LiveOptions } from '../in-process/live-adapters.ts'
import { connectRedis, type RedisAddress } from './connections.ts'
import { createSharedRunEventLog } from './event-log/run-event-log.ts'
import { createSharedLiveCache } from './live-cache.ts'
import { createSharedFailureLimiter, createSharedRateLimiter } from './rate-limiter.ts'
import { createSharedRunQueue } from './run-queue.ts'
import { createSharedRunSignals, createSharedToolSignals, createSignalChannel } from './signals.ts'

export interface RedisOptions extends LiveOptions, RedisAddress {
  codec: EventCodec
  countQueued(apiKeyId: number): Promise<number>
  log: Logger
}

const syncEveryMs = 1_000
const countEveryMs = 2_000

export function createRedisAdapters(options: RedisOptions): LiveAdapters {
  const connections = connectRedis(options, options.log)
  const channel = createSignalChannel(connections)
  let servers = 1
  const counters = { ...connections, servers: () => servers }
  const liveCache = createSharedLiveCache(connections)
  const queue = createSharedRunQueue({ ...options, connections })
  const { codec, endedLogBytes: maxBytes } = options
  const eventLog = createSharedRunEventLog({ connections, channel, codec, maxBytes })
  const count = async () => {
    // Keeps the last number while Redis is unavailable, because the limits then depend on it.
    servers = await channel.countServers().catch(() => servers)
  }
  const upkeep: Repeated[] = [
    // Active runs read the cache without a request that syncs it. The sync also sends drops that Redis has not received.
    repeat(syncEveryMs, () => liveCache.sync()),
    repeat(countEveryMs, count),
  ]
  connections.requests.on('ready', () => void warnOfEviction(connections.requests, options.log))
  return {
    liveCache,
    rateLimiter: createSharedRateLimiter(counters),
    failures: createSharedFailureLimiter(options.authFailureLimit, counters),
    queue,
    signals: createSharedRunSignals(channel),
    toolSignals: createSharedToolSignals(channel),
    eventLog,
    async close() {
      for (const work of upkeep) await work.stop()
      eventLog.close()
      await queue.close()
      await connections.close()
    },
  }
}

/** An evicted job or event log only causes delays, but the operator should learn the reason. */
async function warnOfEviction(redis: Redis, log: Logger): Promise<void> {
  const memory = await redis.info('memory').catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1]
  if (policy === undefined || policy === 'noeviction') return
  log.warn('redis.evicts', { policy, advice: 'set maxmemory-policy to noeviction' })
}
