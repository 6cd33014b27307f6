import { LRUCache } from 'lru-cache'

const WINDOW_MS = 60_000

/**
 * Records evaluations that ended the evaluation thread. `text` identifies the workspace and
 * the text. `cause` identifies the input.
 */
export function createDeathRecord(now = () => performance.now()) {
  // Holds the times of the last two deaths for each text and cause, and an empty list for each text.
  const deaths = new LRUCache<string, number[]>({ max: 20_000 })
  return {
    note(text: string, cause: string): void {
      const key = `${text} ${cause}`
      deaths.set(text, [])
      deaths.set(key, [...(deaths.get(key) ?? []), now()].slice(-2))
    },
    /** @param cause called only for a recorded text, because hashing the input may be expensive. */
    isRefused(text: string, cause: () => string): boolean {
      if (!deaths.has(text)) return false
      const [first, second] = deaths.get(`${text} ${cause()}`) ?? []
      if (first === undefined || second === undefined) return false
      return second - first < WINDOW_MS && now() - second < WINDOW_MS
    },
  }
}
