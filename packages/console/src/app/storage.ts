/** The browser's storage. If it is refused or full, reading finds nothing, and writing and removing change nothing. */

export type StorageName = 'localStorage' | 'sessionStorage'

/** Null if there is no such entry. */
export function storedText(key: string, name: StorageName = 'localStorage'): string | null {
  return attempt(() => window[name].getItem(key), null)
}

/** The value of an entry in JSON. Null if there is none. Anything on this origin may have written it. */
export function stored(key: string, name?: StorageName): unknown {
  return attempt(() => JSON.parse(storedText(key, name) ?? 'null'), null)
}

/** False if the value is not stored. */
export function store(key: string, value: unknown, name: StorageName = 'localStorage'): boolean {
  return attempt(() => {
    window[name].setItem(key, JSON.stringify(value))
    return true
  }, false)
}

/**
 * Stores the first of the values that the browser has room for, the largest first. Entries whose keys start with
 * `dispensable` make room. False if nothing is stored.
 */
export function storeLargest(key: string, values: readonly unknown[], dispensable: string): boolean {
  return values.some((value) => {
    if (store(key, value)) return true
    return storedKeys(dispensable).some((other) => {
      unstore(other)
      return store(key, value)
    })
  })
}

export function unstore(key: string, name: StorageName = 'localStorage'): void {
  attempt(() => window[name].removeItem(key), undefined)
}

export function storedKeys(prefix: string, name: StorageName = 'localStorage'): string[] {
  return attempt(() => Object.keys(window[name]).filter((key) => key.startsWith(prefix)), [])
}

function attempt<Result>(work: () => Result, otherwise: Result): Result {
  try {
    return work()
  } catch {
    return otherwise
  }
}
