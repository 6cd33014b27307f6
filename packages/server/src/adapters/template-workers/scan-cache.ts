import { LRUCache } from 'lru-cache'
import type { TemplateScan } from '../../features/templates/template-engine.ts'

export interface ScanReading {
  scan: TemplateScan
  /** False for a failure that may not happen again. */
  isLasting: boolean
}

export interface ScanCache {
  get(hash: string, read: () => Promise<ScanReading>): Promise<TemplateScan>
}

const MAX_ENTRIES = 2_000
const MAX_TOTAL_CHARS = 16 * 1024 * 1024

export function createScanCache(): ScanCache {
  const kept = new LRUCache<string, ScanReading>({
    max: MAX_ENTRIES,
    maxSize: MAX_TOTAL_CHARS,
    // Measures the complete scan, because a short text may resolve to a large one.
    sizeCalculation: ({ scan }) => JSON.stringify(scan).length,
  })
  const running = new Map<string, Promise<ScanReading>>()
  const start = async (hash: string, read: () => Promise<ScanReading>): Promise<ScanReading> => {
    const made = read()
    running.set(hash, made)
    try {
      const reading = await made
      if (reading.isLasting) kept.set(hash, reading)
      return reading
    } finally {
      running.delete(hash)
    }
  }
  return {
    async get(hash, read) {
      for (;;) {
        const known = kept.get(hash)
        if (known) return known.scan
        const shared = running.get(hash)
        // A shared scan's failure concerns only its initiator, which disconnected or reached a limit.
        const reading = shared ? await shared.catch(() => undefined) : await start(hash, read)
        if (reading) return reading.scan
      }
    },
  }
}
