/** The Redis connections of one server. Their timeouts differ by how long a caller may wait. */
import { Redis, type RedisOptions } from 'ioredis'
import { afterListening } from '../../shared/clock.ts'
import type { Logger } from '../../shared/telemetry.ts'

export interface RedisAddress {
  url: string
  /** The prefix of every key and channel. Lets several installations share one Redis. */
  prefix: string
  /** How long a command that a request waits for may take. */
  timeoutMs: number
}

export interface RedisConnections {
  /** For commands that a request waits for. They fail after the timeout, and immediately while Redis is unavailable. */
  requests: Redis
  /** For event logs and queued jobs, which no request waits for. Commands fail after about 1 s. */
  events: Redis
  prefix: string
  /** Opens a connection for blocking commands, for subscriptions, or for a library. */
  open(options?: ConnectionOptions): Redis
  close(): Promise<void>
}

type ConnectionOptions = Omit<RedisOptions, 'replyMapping'>

const eventTimeoutMs = 1_000
const maxRetryMs = 1_000

/** Without an offline queue and retries, a command fails immediately instead of waiting for a reconnect. */
export const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const satisfies ConnectionOptions

const reconnecting = {
  connectTimeout: 2_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, maxRetryMs),
} as const satisfies ConnectionOptions

export function connectRedis({ url, prefix, timeoutMs }: RedisAddress, log: Logger): RedisConnections {
  const opened: Redis[] = []
  const keep = <R extends Redis>(redis: R): R => {
    // Without a listener, ioredis prints every connection error. Every command reports its own failure.
    redis.on('error', () => undefined)
    opened.push(redis)
    return redis
  }
  const openTimed = (limitMs: number): Redis =>
    keep(new TimedRedis(url, { ...reconnecting, ...failFast, limitMs, enableAutoPipelining: true }))
  const requests = openTimed(timeoutMs)
  requests.on('ready', () => log.info('redis.connected'))
  requests.on('close', () => log.warn('redis.disconnected'))
  return {
    requests,
    events: openTimed(eventTimeoutMs),
    prefix,
    open: (options = {}) => keep(new Redis(url, { ...reconnecting, ...options })),
    async close() {
      requests.removeAllListeners('close')
      for (const redis of opened) redis.disconnect()
    },
  }
}

export class RedisTimeout extends Error {
  constructor() {
    super('Command timed out')
  }
}

/**
 * Limits the time of each command without that in which the event loop was blocked. After a blockage, the timers of
 * ioredis' `commandTimeout` would expire before the responses that have arrived are read.
 */
class TimedRedis extends Redis {
  readonly #limitMs: number

  constructor(url: string, { limitMs, ...options }: ConnectionOptions & { limitMs: number }) {
    super(url, options)
    this.#limitMs = limitMs
  }

  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(command, stream)
    if (!command.isSettled) {
      // Responses that have arrived are read between timers and immediates.
      const expire = () => void setImmediate(() => command.reject(new RedisTimeout()))
      const stop = afterListening(this.#limitMs, expire, this.#limitMs / 5)
      command.promise.then(stop, stop)
    }
    return answer
  }
}
