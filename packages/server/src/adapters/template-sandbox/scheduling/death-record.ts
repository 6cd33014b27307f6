/** Remembers which evaluations ended their worker process of late. */
export interface DeathRecord {
  /** @param text workspace and text; @param cause what the text was evaluated with. */
  note(text: string, cause: string): void
  /** @param cause read only for a text that is on record: it may be expensive to tell. */
  isRefused(text: string, cause: () => string): boolean
}

const MAX_DEATHS = 3
const WINDOW_MS = 60_000
const MAX_TEXTS = 10_000
const MAX_CAUSES_PER_TEXT = 20

export function createDeathRecord(now: () => number = () => performance.now()): DeathRecord {
  const texts = new Map<string, Map<string, number[]>>()
  return {
    note(text, cause) {
      const causes = texts.get(text) ?? new Map<string, number[]>()
      const recent = (causes.get(cause) ?? []).filter((at) => at > now() - WINDOW_MS)
      setLast(causes, cause, [...recent, now()].slice(-MAX_DEATHS), MAX_CAUSES_PER_TEXT)
      setLast(texts, text, causes, MAX_TEXTS)
    },
    isRefused(text, cause) {
      const noted = texts.get(text)?.get(cause()) ?? []
      const last = noted.at(-1)
      return noted.length >= MAX_DEATHS && last !== undefined && last > now() - WINDOW_MS
    },
  }
}

function setLast<V>(map: Map<string, V>, key: string, value: V, mostEntries: number): void {
  map.delete(key)
  map.set(key, value)
  const oldest = map.size > mostEntries ? map.keys().next().value : undefined
  if (oldest !== undefined) map.delete(oldest)
}
