/** A map that forgets: each entry after `ttlMs`, the oldest beyond `maxEntries`. One timer, only while it holds something. */
export interface ExpiringMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
  clear(): void
}

export function createExpiringMap<V>(options: { ttlMs: number; maxEntries: number }): ExpiringMap<V> {
  const entries = new Map<string, { value: V; expiresAt: number }>()
  let timer: NodeJS.Timeout | undefined

  // Insertion order is expiry order, since every entry lives equally long and `set` re-inserts.
  const sweep = () => {
    const now = performance.now()
    for (const [key, entry] of entries) {
      if (entry.expiresAt > now && entries.size <= options.maxEntries) break
      entries.delete(key)
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
    set(key, value) {
      entries.delete(key)
      entries.set(key, { value, expiresAt: performance.now() + options.ttlMs })
      if (entries.size > options.maxEntries) sweep()
      timer ??= setInterval(sweep, Math.max(1_000, options.ttlMs / 4)).unref()
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
