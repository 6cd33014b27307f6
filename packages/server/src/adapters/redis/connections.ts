/** The Redis connections of one server. Their timeouts differ by how long a caller may wait. */
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from '../../shared/logger.ts'

export interface RedisAddress {
  url: string
  /** The prefix of every key and channel. Lets several installations share one Redis. */
  prefix: string
}

export interface RedisConnections {
  /** For commands that a request waits for. Fails within 50 ms, and immediately while Redis is unavailable. */
  requests: Redis
  /** For event logs and jobs, which no request waits for. Fails within 1 s. */
  events: Redis
  prefix: string
  /** Opens a connection for blocking commands, for subscriptions, or for a library. */
  open(options?: ConnectionOptions): Redis
  close(): Promise<void>
}

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>

const requestTimeoutMs = 50
const eventTimeoutMs = 1_000
const longestRetryMs = 1_000

/** Without an offline queue and retries, a command fails instead of waiting for an unavailable or frozen Redis. */
export const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const satisfies ConnectionOptions

export function connectRedis({ url, prefix }: RedisAddress, log: Logger): RedisConnections {
  const opened: Redis[] = []
  const open = (options: ConnectionOptions = {}): Redis => {
    const redis = new Redis(url, {
      connectTimeout: 2_000,
      retryStrategy: (attempt) => Math.min(attempt * 50, longestRetryMs),
      ...options,
    })
    // Without a listener, an error event would end the process. Every command reports its own failure.
    redis.on('error', () => undefined)
    opened.push(redis)
    return redis
  }
  const requests = open({ ...failFast, commandTimeout: requestTimeoutMs, enableAutoPipelining: true })
  requests.on('ready', () => log.info('redis.connected'))
  requests.on('close', () => log.warn('redis.disconnected'))
  return {
    requests,
    events: open({ ...failFast, commandTimeout: eventTimeoutMs, enableAutoPipelining: true }),
    prefix,
    open,
    async close() {
      requests.removeAllListeners('close')
      for (const redis of opened) redis.disconnect()
    },
  }
}
