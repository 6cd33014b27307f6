import type { CacheEntry, CacheStore } from '../cache-options.ts'

export class MemoryStore implements CacheStore {
  // A Map keeps insertion order. Each read or write moves its entry to the end, so the first entry is evicted first.
  readonly #entries = new Map<string, CacheEntry>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry) this.set(key, entry)
    return entry
  }

  set(key: string, e: CacheEntry): void {
    this.#entries.delete(key)
    this.#entries.set(key, e)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) return
      this.#entries.delete(oldest)
    }
  }

  delete(keyPrefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(keyPrefix)) this.#entries.delete(key)
  }
}
