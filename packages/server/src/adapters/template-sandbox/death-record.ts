/** Remembers which texts ended their child of late. */
export interface DeathRecord {
  note(hash: string): void
  isRefused(hash: string): boolean
}

const MAX_DEATHS = 3
const WINDOW_MS = 60_000
const MAX_REMEMBERED = 10_000

export function createDeathRecord(now: () => number = () => performance.now()): DeathRecord {
  const deaths = new Map<string, number[]>()
  return {
    note(hash) {
      const recent = (deaths.get(hash) ?? []).filter((at) => at > now() - WINDOW_MS)
      deaths.delete(hash)
      deaths.set(hash, [...recent, now()].slice(-MAX_DEATHS))
      const oldest = deaths.size > MAX_REMEMBERED ? deaths.keys().next().value : undefined
      if (oldest !== undefined) deaths.delete(oldest)
    },
    isRefused(hash) {
      const noted = deaths.get(hash) ?? []
      const last = noted.at(-1)
      return noted.length >= MAX_DEATHS && last !== undefined && last > now() - WINDOW_MS
    },
  }
}
