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
