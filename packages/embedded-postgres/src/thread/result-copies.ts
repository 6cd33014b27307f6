/** Frees the byte copies that PGlite creates for large results, if the process was started with `--expose-gc`. */
import { getHeapStatistics } from 'node:v8'

/** V8 alone would collect the copies only after 64 MB, because this thread allocates few other objects. */
const mostUncollectedBytes = 8_388_608

/** Call the returned function after every statement. The check takes 0.4 µs, a collection less than 1 ms. */
export function collectResultCopies(): () => void {
  let leastBytes = getHeapStatistics().external_memory
  let isDue = false
  const collect = () => {
    globalThis.gc?.({ type: 'minor', execution: 'sync' })
    leastBytes = getHeapStatistics().external_memory
    isDue = false
  }
  return () => {
    const bytes = getHeapStatistics().external_memory
    leastBytes = Math.min(leastBytes, bytes)
    if (isDue || bytes - leastBytes <= mostUncollectedBytes) return
    isDue = true
    // Collects in a later turn of the event loop, because the statement's own promises still refer to its copies.
    setImmediate(collect)
  }
}
