import { LRUCache } from 'lru-cache'
import type { LiveCache } from '../../features/deps.ts'
import { heldBytes } from '../../shared/json-limits.ts'

interface Entry {
  scope: string
  /** Boxed, because `null` and `undefined` are valid values. */
  value: unknown
  bytes: number
}

/** Maximum number of dropped cache scopes to track. At this number, the next drop clears the whole cache. */
const maxDrops = 50_000

export interface LiveCacheLimits {
  maxEntries?: number
  /** Compared with an estimate. */
  maxBytes?: number
  /** Default: no limit. */
  maxAgeMs?: number
}

/** Evicts the least recently used entries beyond either of the first two limits. */
export function createLiveCache(limits: LiveCacheLimits = {}): LiveCache {
  const idsOf = new Map<string, Set<string>>()
  const kept = new LRUCache<string, Entry>({
    max: limits.maxEntries ?? 50_000,
    maxSize: limits.maxBytes ?? 128 * 1024 * 1024,
    sizeCalculation: ({ bytes }) => bytes,
    ttl: limits.maxAgeMs ?? 0,
    dispose: ({ scope }, id) => {
      const ids = idsOf.get(scope)
      if (ids?.delete(id) && ids.size === 0) idsOf.delete(scope)
    },
  })
  const loads = new Map<string, { since: number; value: Promise<unknown> }>()
  // The value of `drops` at each cache scope's last drop. A load is current if the load began after that drop.
  const droppedAt = new Map<string, number>()
  let drops = 0
  let allDroppedAt = 0

  const isCurrent = (scope: string, since: number) => since >= (droppedAt.get(scope) ?? allDroppedAt)
  const keep = (id: string, scope: string, value: unknown) => {
    kept.set(id, { scope, value, bytes: heldBytes(value) })
    if (!kept.has(id)) return
    const ids = idsOf.get(scope) ?? new Set()
    idsOf.set(scope, ids.add(id))
  }
  const clear = () => {
    drops += 1
    allDroppedAt = drops
    droppedAt.clear()
    kept.clear()
  }
  const dropHere = (scope: string) => {
    if (droppedAt.size >= maxDrops) return clear()
    drops += 1
    droppedAt.set(scope, drops)
    for (const id of idsOf.get(scope) ?? []) kept.delete(id)
  }

  return {
    read<T>(scope: string, key: string, load: () => Promise<T>): Promise<T> {
      const id = `${scope}\n${key}`
      const entry = kept.get(id)
      if (entry) return Promise.resolve(entry.value as T)
      const running = loads.get(id)
      if (running && isCurrent(scope, running.since)) return running.value as Promise<T>
      const since = drops
      const value = startLoad(load)
        .then((loaded) => {
          if (isCurrent(scope, since)) keep(id, scope, loaded)
          return loaded
        })
        .finally(() => {
          if (loads.get(id)?.value === value) loads.delete(id)
        })
      loads.set(id, { since, value })
      return value
    },
    drop: async (scope) => dropHere(scope),
    dropHere,
    clear,
  }
}

// Turns a synchronous throw into a rejection.
async function startLoad<T>(load: () => Promise<T>): Promise<T> {
  return load()
}
