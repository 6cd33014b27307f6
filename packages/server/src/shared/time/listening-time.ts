const TICK_MS = 25

/**
 * Calls `expire` after `ms` of time in which this process could receive a response. Time in which the event loop was
 * blocked does not count. Returns a function that stops it.
 * @param tickMs a late tick counts only once.
 */
export function afterListening(ms: number, expire: () => void, tickMs = TICK_MS): () => void {
  let ticks = Math.ceil(ms / tickMs)
  const timer = setInterval(() => {
    ticks -= 1
    if (ticks > 0) return
    clearInterval(timer)
    expire()
  }, tickMs)
  return () => clearInterval(timer)
}
