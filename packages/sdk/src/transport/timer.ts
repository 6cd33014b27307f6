// setTimeout takes a signed 32-bit integer and fires immediately for larger values.
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls `expire` after `ms` milliseconds. Starts no timer if `ms` is 0 or less, or too long for a timer. Returns a
 * function that stops the timer. The timer runs in two halves: if the process was suspended, the second half leaves
 * time to read data that has arrived.
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
