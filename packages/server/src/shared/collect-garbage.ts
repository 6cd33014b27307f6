/**
 * Forces garbage collection. V8 counts buffers only when they add up to 64 MB, and then collects everything.
 * Node exposes `gc` in a process started with `--expose-gc`. A second `vm` context would expose it too, but it makes
 * all other code a third slower (ADR 41).
 */
const { gc } = globalThis

export const canCollectGarbage = gc !== undefined

/** Pauses for 1 to 2 ms. Frees garbage that was allocated since the last collection. */
export function collectYoung(): void {
  gc?.({ type: 'minor', execution: 'sync' })
}

/** Pauses for 30 to 60 ms. */
export function collectAll(): void {
  gc?.({ type: 'major', execution: 'sync' })
}
