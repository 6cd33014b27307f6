/**
 * Time in which this process could hear: a tick that comes late counts once, however long the machine stood still. A limit
 * of seconds holds in this time; by the clock on the wall it would hold for the machine instead of the server.
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

/** How long the work takes of the time in which this process could hear of its end. */
export async function heardMs(work: Promise<unknown>): Promise<number> {
  const time = startHeardTime()
  try {
    await work
  } finally {
    time.stop()
  }
  return time.passedMs()
}
