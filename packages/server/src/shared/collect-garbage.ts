/**
 * Forces garbage collection, because V8 alone collects buffers only after they add up to 64 MB. Without `gc`, the
 * functions do nothing. Node exposes `gc` in a process started with `--expose-gc`. A second `vm` context also exposes
 * `gc`, but makes all other code a third slower (ADR 41).
 */
const { gc } = globalThis

export const canCollectGarbage = gc !== undefined

/** Pauses for 1 to 2 ms. Frees only recently allocated garbage. */
export function collectYoung(): void {
  gc?.({ type: 'minor', execution: 'sync' })
}

/** Pauses for 30 to 60 ms. Frees all garbage. */
function collectAll(): void {
  gc?.({ type: 'major', execution: 'sync' })
}

/** V8 alone lets the heap grow to four times its use before it collects. */
const collectAfterBytes = 12_582_912
const leastCountedBytes = 65_536
let uncollectedBytes = 0

/**
 * Counts a large value that becomes garbage soon, and collects when there is enough. Each value leaves several times its
 * size, because it is encoded, sent and decoded.
 */
export function countGarbage(bytes: number): void {
  if (bytes < leastCountedBytes) return
  uncollectedBytes += bytes
  if (uncollectedBytes < collectAfterBytes) return
  uncollectedBytes = 0
  // Synchronous, because an asynchronous collection would start after the next values have been made.
  collectAll()
}
