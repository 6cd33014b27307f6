/**
 * Measures the time in which this process was responsive. A late tick counts once, however long the machine paused. A
 * time limit then tests the server, not the machine.
 */
export interface HeardTime {
  passedMs(): number
  stop(): void
}

const tickMs = 10

export function startHeardTime(): HeardTime {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, tickMs)
  return { passedMs: () => ticks * tickMs, stop: () => clearInterval(timer) }
}

export async function heardMs(work: Promise<unknown>): Promise<number> {
  const time = startHeardTime()
  try {
    await work
  } finally {
    time.stop()
  }
  return time.passedMs()
}
