import { LRUCache } from 'lru-cache'

interface ExpiringMapOptions {
  ttlMs: number
  maxEntries: number
  maxBytes?: number
}

/**
 * Drops each entry after `ttlMs`, and the least recently used ones beyond the limits. One timer for all entries, which
 * runs only while there are any, because `ttlAutopurge` would start one for each.
 */
export function createExpiringMap<V extends NonNullable<unknown>>(options: ExpiringMapOptions) {
  const { ttlMs, maxEntries, maxBytes = maxEntries } = options
  // At least 1, because `LRUCache` treats 0 as unlimited.
  const maxSize = Math.max(1, Math.floor(maxBytes))
  const entries = new LRUCache<string, V>({ ttl: ttlMs, max: maxEntries, maxSize, perf: performance })
  let timer: NodeJS.Timeout | undefined
  const purge = () => {
    entries.purgeStale()
    if (entries.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    get: (key: string) => entries.get(key),
    /** @param bytes the entry's size. An entry larger than the map's limit is not stored. */
    set(key: string, value: V, bytes = 1): void {
      entries.set(key, value, { size: bytes })
      timer ??= setInterval(purge, Math.max(1_000, ttlMs / 4)).unref()
    },
    delete: (key: string) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
