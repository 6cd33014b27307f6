// setTimeout takes a signed 32-bit number and fires at once for more
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Calls back after a time, never for times that are not positive or too long to count; returns what stops it. */
export function startTimer(ms: number, expire: () => void): () => void {
  if (!(ms > 0 && ms <= LONGEST_TIMER_MS)) return () => {}
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}
