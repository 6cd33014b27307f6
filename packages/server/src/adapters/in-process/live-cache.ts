/** What was read lately, in the memory of this process. */
import type { LiveCache } from '../../features/deps.ts'

interface Entry {
  scope: Scope
  key: string
  value: unknown
  bytes: number
}

/** One life of a scope: `drop` replaces the object, so that a load which began before finds itself outdated. */
interface Scope {
  name: string
  entries: Map<string, Entry>
  loads: Map<string, Promise<unknown>>
}

/** Keeps the entries used last, up to both limits; `maxBytes` is compared with an estimate. */
export function createLiveCache(limits: { maxEntries?: number; maxBytes?: number } = {}): LiveCache {
  const { maxEntries = 50_000, maxBytes = 128 * 1024 * 1024 } = limits
  const scopes = new Map<string, Scope>()
  // In order of use, the oldest first.
  const used = new Set<Entry>()
  let bytes = 0

  const forget = (entry: Entry) => {
    used.delete(entry)
    bytes -= entry.bytes
    entry.scope.entries.delete(entry.key)
    releaseIfEmpty(entry.scope)
  }

  const releaseIfEmpty = (scope: Scope) => {
    if (scope.loads.size === 0 && scope.entries.size === 0 && scopes.get(scope.name) === scope)
      scopes.delete(scope.name)
  }

  const fill = (scope: Scope, key: string, value: unknown) => {
    if (scopes.get(scope.name) !== scope) return
    const entry: Entry = { scope, key, value, bytes: estimateBytes(value, 0) }
    scope.entries.set(key, entry)
    used.add(entry)
    bytes += entry.bytes
    for (const oldest of used) {
      if (used.size <= maxEntries && bytes <= maxBytes) break
      forget(oldest)
    }
  }

  const use = (entry: Entry) => {
    used.delete(entry)
    used.add(entry)
  }

  return {
    recall<T>(name: string, key: string): T | undefined {
      const known = scopes.get(name)?.entries.get(key)
      if (known) use(known)
      return known?.value as T | undefined
    },
    read<T>(name: string, key: string, load: () => Promise<T>): Promise<T> {
      const scope = scopes.get(name) ?? { name, entries: new Map(), loads: new Map() }
      const known = scope.entries.get(key)
      if (known) {
        use(known)
        return Promise.resolve(known.value as T)
      }
      const running = scope.loads.get(key)
      if (running) return running as Promise<T>
      scopes.set(name, scope)
      const started = startLoad(load)
        .then((value) => {
          fill(scope, key, value)
          return value
        })
        .finally(() => {
          scope.loads.delete(key)
          releaseIfEmpty(scope)
        })
      scope.loads.set(key, started)
      return started
    },
    drop(name) {
      const scope = scopes.get(name)
      scopes.delete(name)
      for (const entry of scope?.entries.values() ?? []) forget(entry)
    },
    clear() {
      scopes.clear()
      used.clear()
      bytes = 0
    },
  }
}

// A loader that throws before its first await must reject like any other.
async function startLoad<T>(load: () => Promise<T>): Promise<T> {
  return load()
}

function estimateBytes(value: unknown, depth: number): number {
  if (typeof value === 'string') return 16 + 2 * value.length
  if (typeof value !== 'object' || value === null || depth > 8) return 16
  if (ArrayBuffer.isView(value)) return 64 + value.byteLength
  let sum = 64
  for (const item of Array.isArray(value) ? value : Object.values(value)) sum += estimateBytes(item, depth + 1)
  return sum
}
