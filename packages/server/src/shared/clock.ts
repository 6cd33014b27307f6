export interface Clock {
  now(): Date
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

/** Calls `work` at each interval, unless the previous call is still running. @param work must not reject. */
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
