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
export function collectAll(): void {
  gc?.({ type: 'major', execution: 'sync' })
}
