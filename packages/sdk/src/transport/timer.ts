// setTimeout takes a signed 32-bit number, and fires at once for larger ones.
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls back after a time, but never for times that are not positive or too long for a timer. Returns a function that
 * stops it. The time has two halves: after a pause of the process, one half remains to read the data that arrived.
 */
export function startTimer(ms: number, expire: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  if (ms > 0 && ms <= LONGEST_TIMER_MS) {
    timer = setTimeout(() => {
      timer = setTimeout(expire, ms / 2)
    }, ms / 2)
  }
  return () => clearTimeout(timer)
}
