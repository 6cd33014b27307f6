/** The Redis connections of one server. Their timeouts differ by how long a caller may wait. */
import { type Command, Redis, type RedisOptions } from 'ioredis'
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
    keep(new TimedRedis(url, { ...reconnecting, ...failFast, timeoutMs: limitMs, enableAutoPipelining: true }))
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

type Options = Omit<RedisOptions, 'replyMapping' | 'commandTimeout'>

interface Waiting {
  command: Command
  dueTick: number
}

export class RedisTimeout extends Error {
  constructor() {
    super('Command timed out')
  }
}

const ticksPerTimeout = 5

/**
 * Measures time in ticks, so that a blocked event loop does not count. After a blockage, the timers of ioredis'
 * `commandTimeout` would expire before the responses that have arrived are read. One timer serves all commands.
 */
class TimedRedis extends Redis {
  readonly #tickMs: number
  /** In the order of their due ticks. */
  #waiting: Waiting[] = []
  #tick = 0
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, { timeoutMs, ...options }: Options & { timeoutMs: number }) {
    super(url, options)
    this.#tickMs = timeoutMs / ticksPerTimeout
  }

  override sendCommand(...[command, stream]: Parameters<Redis['sendCommand']>): unknown {
    const answer = super.sendCommand(command, stream)
    // After a reconnect, ioredis passes a command here again. The deadline of the first attempt still applies.
    if (!command.isSettled) {
      this.#waiting.push({ command, dueTick: this.#tick + ticksPerTimeout })
      this.#timer ??= setInterval(() => this.#onTick(), this.#tickMs)
    }
    return answer
  }

  #onTick(): void {
    this.#tick += 1
    // Responses that have arrived are read between timers and immediates.
    setImmediate(() => this.#expire())
  }

  #expire(): void {
    const { command, dueTick } = this.#waiting[0] ?? {}
    if (command && !command.isSettled && (dueTick ?? 0) > this.#tick) return
    this.#waiting = this.#waiting.filter((each) => {
      if (each.command.isSettled) return false
      if (each.dueTick > this.#tick) return true
      each.command.reject(new RedisTimeout())
      return false
    })
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
