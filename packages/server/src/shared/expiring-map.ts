/** Drops each entry after `ttlMs`, and the oldest ones beyond the limits. Its timer runs only while it has entries. */
export interface ExpiringMap<V> {
  get(key: string): V | undefined
  /** @param bytes the entry's size. An entry larger than the map's limit is not stored. */
  set(key: string, value: V, bytes?: number): void
  delete(key: string): void
  clear(): void
}

export interface ExpiringMapOptions {
  ttlMs: number
  maxEntries: number
  maxBytes?: number
}

export function createExpiringMap<V>(options: ExpiringMapOptions): ExpiringMap<V> {
  const { ttlMs, maxEntries, maxBytes = Number.POSITIVE_INFINITY } = options
  const entries = new Map<string, { value: V; expiresAt: number; bytes: number }>()
  let held = 0
  let timer: NodeJS.Timeout | undefined

  const remove = (key: string) => {
    held -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  const isOver = () => entries.size > maxEntries || held > maxBytes

  // Insertion order is expiry order, because all entries have the same TTL and `set` re-inserts.
  const sweep = () => {
    const now = performance.now()
    for (const [key, entry] of entries) {
      if (entry.expiresAt > now && !isOver()) break
      remove(key)
    }
    if (entries.size > 0 || timer === undefined) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    get(key) {
      const entry = entries.get(key)
      return entry !== undefined && entry.expiresAt > performance.now() ? entry.value : undefined
    },
    set(key, value, bytes = 0) {
      remove(key)
      if (bytes > maxBytes) return
      entries.set(key, { value, expiresAt: performance.now() + ttlMs, bytes })
      held += bytes
      if (isOver()) sweep()
      timer ??= setInterval(sweep, Math.max(1_000, ttlMs / 4)).unref()
    },
    delete: remove,
    clear() {
      entries.clear()
      held = 0
    },
  }
}
