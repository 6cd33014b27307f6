/** Forces garbage collection. V8 counts buffers only when they add up to 64 MB, and then collects everything. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// After the flag is set, Node exposes `gc` only to new contexts.
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as (options: { type: 'minor' | 'major'; execution: 'sync' }) => void

/** Pauses for 1 to 2 ms. Frees garbage that was allocated since the last collection. */
export function collectYoung(): void {
  gc({ type: 'minor', execution: 'sync' })
}

/** Pauses for 30 to 60 ms. */
export function collectAll(): void {
  gc({ type: 'major', execution: 'sync' })
}
