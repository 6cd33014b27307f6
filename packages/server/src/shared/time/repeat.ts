/** Repeats some work at an interval, never twice at once. */
export interface Repeated {
  /** Resolves when the work is not under way any more. */
  stop(): Promise<void>
}

/** @param work must not reject. The first time is after one interval. */
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
