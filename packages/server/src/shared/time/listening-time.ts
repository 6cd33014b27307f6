const TICK_MS = 25

/**
 * Calls `expire` after `ms` in which this process was able to hear an answer. Time in which it was kept busy does not
 * count: an answer that waits to be read is no silence. Returns how to stop.
 * @param tickMs a tick that comes late counts once: in the time until then nothing could be heard.
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
