/** The Redis connections of one server. Their timeouts differ by how long a caller may wait. */
import { Redis, type RedisOptions } from 'ioredis'
import { afterListening } from '../../shared/clock.ts'
import type { Logger } from '../../shared/logger.ts'

export interface RedisAddress {
  url: string
  /** The prefix of every key and channel. Lets several installations share one Redis. */
  prefix: string
}

export interface RedisConnections {
  /** For commands that a request waits for, through `answering`. They fail immediately while Redis is unavailable. */
  requests: Redis
  /**
   * Awaits a command of `requests`. If Redis answers nothing for 80 ms, drops the connection, which fails all pending
   * commands and, until Redis answers again, all later ones.
   */
  answering<T>(command: Promise<T>): Promise<T>
  /** For event logs and jobs, which no request waits for. Fails within 1 s. */
  events: Redis
  prefix: string
  /** Opens a connection for blocking commands, for subscriptions, or for a library. */
  open(options?: ConnectionOptions): Redis
  close(): Promise<void>
}

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>

const requestSilenceMs = 80
const silenceTickMs = 10
const eventTimeoutMs = 1_000
const longestRetryMs = 1_000

/** Without an offline queue and retries, a command fails instead of waiting for an unavailable or frozen Redis. */
const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const satisfies ConnectionOptions

export function connectRedis({ url, prefix }: RedisAddress, log: Logger): RedisConnections {
  const opened: Redis[] = []
  const open = (options: ConnectionOptions = {}): Redis => {
    const redis = new Redis(url, {
      connectTimeout: 2_000,
      // A frozen Redis does not close its end of the connection.
      disconnectTimeout: 1,
      retryStrategy: (attempt) => Math.min(attempt * 50, longestRetryMs),
      ...options,
    })
    // Without a listener, an error event would end the process. Every command reports its own failure.
    redis.on('error', () => undefined)
    opened.push(redis)
    return redis
  }
  const requests = open({ ...failFast, enableAutoPipelining: true })
  requests.on('ready', () => log.info('redis.connected'))
  requests.on('close', () => log.warn('redis.disconnected'))
  return {
    requests,
    answering: watchSilence(() => requests.disconnect(true)),
    events: open({ ...failFast, commandTimeout: eventTimeoutMs, enableAutoPipelining: true }),
    prefix,
    open,
    async close() {
      requests.removeAllListeners('close')
      for (const redis of opened) redis.disconnect()
    },
  }
}

/** A timeout of ioredis would also expire while this process is busy and the answer waits in its socket. */
function watchSilence(onSilence: () => void): RedisConnections['answering'] {
  let waiting = 0
  let stopTimer: (() => void) | undefined
  return async (command) => {
    waiting += 1
    stopTimer ??= afterListening(requestSilenceMs, onSilence, silenceTickMs)
    try {
      return await command
    } finally {
      waiting -= 1
      stopTimer?.()
      stopTimer = waiting > 0 ? afterListening(requestSilenceMs, onSilence, silenceTickMs) : undefined
    }
  }
}
