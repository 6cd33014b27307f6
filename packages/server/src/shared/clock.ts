/** The source of time, passed in so that tests can control it. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

const defaultTickMs = 25

/**
 * Calls `expire` after `ms` of time in which this process could receive a response. Time in which the event loop was
 * blocked does not count. Returns a function that stops it.
 * @param tickMs a late tick counts only once.
 */
export function afterListening(ms: number, expire: () => void, tickMs = defaultTickMs): () => void {
  let ticks = Math.ceil(ms / tickMs)
  const timer = setInterval(() => {
    ticks -= 1
    if (ticks > 0) return
    clearInterval(timer)
    expire()
  }, tickMs)
  return () => clearInterval(timer)
}

/** Repeats work at an interval, never twice at the same time. */
export interface Repeated {
  /** Resolves once no work is running. */
  stop(): Promise<void>
}

/** @param work must not reject. It first runs after one interval. */
export function repeat(everyMs: number, work: () => Promise<void>): Repeated {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= work().finally(() => {
      running = undefined
    })
  }, everyMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
