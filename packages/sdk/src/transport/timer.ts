// setTimeout takes a signed 32-bit number and fires at once for more
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls back after a time, never for times that are not positive or too long to count; returns what stops it. The time has
 * two halves: after a standstill of the process one half remains, in which what has arrived meanwhile is read.
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
