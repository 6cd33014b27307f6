import type { TemplateScan } from '../../features/templates/template-engine.ts'
import type { SlotPlan } from './slot-plan.ts'

export interface ScanReading {
  scan: TemplateScan
  slots?: SlotPlan | undefined
  isLasting: boolean
}

export interface ScanCache {
  /** The kept scan of a text, or the one that `read` makes; calls for one text at one time share it. */
  get(hash: string, read: () => Promise<ScanReading>): Promise<TemplateScan>
  /** The plan that came with the kept scan of a text. */
  slotsOf(hash: string): SlotPlan | undefined
}

const MAX_ENTRIES = 2_000
const MAX_TOTAL_CHARS = 16 * 1024 * 1024

interface Entry {
  /** Of the whole scan: a short text may resolve to a large one. Zero while it is being made. */
  chars: number
  scan: Promise<TemplateScan>
  slots?: SlotPlan | undefined
}

/** Keeps the scans used last, within a number and a total size. */
export function createScanCache(): ScanCache {
  const entries = new Map<string, Entry>()
  let totalChars = 0
  const drop = (hash: string): void => {
    totalChars -= entries.get(hash)?.chars ?? 0
    entries.delete(hash)
  }
  const dropOldest = (): void => {
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_ENTRIES && totalChars <= MAX_TOTAL_CHARS) break
      drop(oldest)
    }
  }
  /** What was dropped while it was being made is not counted: another entry may have taken its place. */
  const keep = (hash: string, entry: Entry, { scan, slots }: ScanReading): void => {
    if (entries.get(hash) !== entry) return
    entry.slots = slots
    entry.chars = JSON.stringify([scan, slots]).length
    totalChars += entry.chars
    dropOldest()
  }
  const use = (hash: string): Entry | undefined => {
    const known = entries.get(hash)
    if (!known) return undefined
    entries.delete(hash)
    entries.set(hash, known)
    return known
  }
  return {
    slotsOf: (hash) => use(hash)?.slots,
    get(hash, read) {
      const known = use(hash)
      if (known) return known.scan
      const made = read()
      const entry: Entry = { chars: 0, scan: made.then((result) => result.scan) }
      entries.set(hash, entry)
      dropOldest()
      made.then(
        (result) => (result.isLasting ? keep(hash, entry, result) : drop(hash)),
        () => drop(hash),
      )
      return entry.scan
    },
  }
}
