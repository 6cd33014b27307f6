import { LRUCache } from 'lru-cache'
import type { TemplateScan } from '../../features/templates/template-engine.ts'

export interface ScanReading {
  scan: TemplateScan
  /** False for a failure that may be temporary. */
  isLasting: boolean
}

export function createScanCache() {
  const kept = new LRUCache<string, TemplateScan>({
    max: 2_000,
    maxSize: 16 * 1024 * 1024,
    // Measures the complete scan, because a short text may resolve to a large one.
    sizeCalculation: (scan) => JSON.stringify(scan).length,
  })
  const running = new Map<string, Promise<ScanReading>>()
  return {
    async get(hash: string, read: () => Promise<ScanReading>): Promise<TemplateScan> {
      for (;;) {
        const known = kept.get(hash)
        if (known) return known
        const shared = running.get(hash)
        if (!shared) break
        // A shared scan rejects if its first caller disconnects or reaches a limit. The other callers try again.
        const reading = await shared.catch(() => undefined)
        if (reading) return reading.scan
      }
      try {
        const reading = read()
        running.set(hash, reading)
        const { scan, isLasting } = await reading
        if (isLasting) kept.set(hash, scan)
        return scan
      } finally {
        running.delete(hash)
      }
    },
  }
}
