/** Counts the bytes that a run has recorded against its bound, exactly where it matters and cheaply everywhere else. */
import type { LogEntry } from '../ports.ts'

export interface EventSize {
  add(entries: readonly LogEntry[]): void
  isOver(): boolean
}

/** Bytes of UTF-8 for one UTF-16 unit, at most. */
const mostBytesPerUnit = 3

/**
 * While even the widest characters could not reach the bound, counting units is enough; from then on bytes are counted.
 * @param recorded all entries that were added, for the one time that they are measured.
 */
export function createEventSize(maxBytes: number, recorded: () => readonly LogEntry[]): EventSize {
  let units = 0
  let bytes: number | undefined
  return {
    add(entries) {
      if (bytes !== undefined) {
        bytes += sum(entries, Buffer.byteLength)
        return
      }
      units += sum(entries, unitsOf)
      if (units * mostBytesPerUnit > maxBytes) bytes = sum(recorded(), Buffer.byteLength)
    },
    isOver() {
      return bytes !== undefined && bytes > maxBytes
    },
  }
}

const unitsOf = (text: string) => text.length

/** Messages that an event names by their places are not its own. */
function sum(entries: readonly LogEntry[], sizeOf: (text: string) => number): number {
  let size = 0
  for (const { pieces } of entries) {
    if (typeof pieces === 'string') size += sizeOf(pieces)
    else for (const piece of pieces) if (typeof piece === 'string') size += sizeOf(piece)
  }
  return size
}
