export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

const defaultTickMs = 25

/** Like a timeout, but time with a blocked event loop does not count. Returns a function that stops it. */
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

/** Repeated work that never overlaps itself. */
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
