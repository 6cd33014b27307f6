const TICK_MS = 25

/**
 * How long the work takes of the time in which this process could hear of its end. A tick that comes late counts once: a
 * machine that stands still for a while, or gives its cores to others, makes nothing look slow.
 */
export async function heardMs(work: Promise<unknown>): Promise<number> {
  let ticks = 0
  const timer = setInterval(() => {
    ticks += 1
  }, TICK_MS)
  try {
    await work
  } finally {
    clearInterval(timer)
  }
  return ticks * TICK_MS
}
