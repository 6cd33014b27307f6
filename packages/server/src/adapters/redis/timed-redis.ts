/** A Redis connection whose commands fail if Redis does not answer in time. */
import { type Command, Redis, type RedisOptions } from 'ioredis'

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
export class TimedRedis extends Redis {
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
