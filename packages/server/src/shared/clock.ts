export interface Clock {
  now(): Date
}

/** PostgreSQL cannot parse JavaScript's ISO strings for year 0 and five-digit years. */
const instants = { first: 0, last: Date.UTC(9999, 0) } as const

/** Limits an instant of a filter to what the database can compare. */
export function possibleInstant(instant: Date): Date {
  return new Date(Math.min(Math.max(instant.getTime(), instants.first), instants.last))
}

export const systemClock: Clock = { now: () => new Date() }

/**
 * Calls `expire` after about `ms`. Time in which the event loop was blocked does not count. Returns a function that
 * cancels the call.
 */
export function afterListening(ms: number, expire: () => void, tickMs = 25): () => void {
  let ticks = Math.ceil(ms / tickMs)
  const timer = setInterval(() => {
    ticks -= 1
    if (ticks > 0) return
    clearInterval(timer)
    expire()
  }, tickMs)
  return () => clearInterval(timer)
}

export interface Repeated {
  /** Starts no further work. Resolves once no work is running. */
  stop(): Promise<void>
}

export interface Wakeable extends Repeated {
  /** Calls the work now, or once more after the running call. */
  wake(): void
}

/**
 * Calls `work` at each interval, unless the previous call is still running.
 * @param work must not reject. Its signal is aborted by `stop`.
 */
export function repeat(everyMs: number, work: (stopping: AbortSignal) => Promise<void>): Wakeable {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let isWoken = false
  const begin = () => {
    running ??= work(stopping.signal).finally(() => {
      running = undefined
      if (isWoken && !stopping.signal.aborted) wake()
    })
  }
  const wake = () => {
    isWoken = running !== undefined
    begin()
  }
  const timer = setInterval(begin, everyMs)
  timer.unref()
  return {
    wake,
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}
