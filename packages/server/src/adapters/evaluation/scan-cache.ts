import { LRUCache } from 'lru-cache'
import type { TemplateScan } from '../../features/templates/template-engine.ts'
import { heldBytes } from '../../shared/json-pieces.ts'

export function createScanCache() {
  const kept = new LRUCache<string, TemplateScan>({
    max: 2_000,
    maxSize: 32 * 1024 * 1024,
    // Measures the complete scan, because a short text may resolve to a large one.
    sizeCalculation: heldBytes,
  })
  const running = new Map<string, Promise<TemplateScan>>()
  return {
    async get(hash: string, read: () => Promise<TemplateScan>): Promise<TemplateScan> {
      for (;;) {
        const known = kept.get(hash)
        if (known) return known
        const shared = running.get(hash)
        if (!shared) break
        // A shared scan rejects if its first caller disconnects or reaches a limit. The other callers try again.
        const scan = await shared.catch(() => undefined)
        if (scan) return scan
      }
      try {
        const reading = read()
        running.set(hash, reading)
        const scan = await reading
        if (!scan.isTemporary) kept.set(hash, scan)
        return scan
      } finally {
        running.delete(hash)
      }
    },
  }
}
