/** Collections at moments that V8 cannot choose: it counts buffers only when they add up to 64 MB, and then collects everything. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Node offers `gc` to new contexts only, once the flag is set.
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as (options: { type: 'minor' | 'major'; execution: 'sync' }) => void

/** Pauses for 1 to 2 ms. Frees what was allocated since the last collection and is no longer used. */
export function collectYoung(): void {
  gc({ type: 'minor', execution: 'sync' })
}

/** Pauses for 30 to 60 ms. */
export function collectAll(): void {
  gc({ type: 'major', execution: 'sync' })
}
