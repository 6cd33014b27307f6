import { useSyncExternalStore } from 'react'

/** Choices of this browser. They are kept in local storage and survive signing out. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  density: 'normal' | 'compact'
  /** Whether single letters are shortcuts. Speech input may press them by accident. */
  letterKeys: boolean
  /** The id of the project that was open last. */
  project: string | null
  /** The uuid of the version that was open in it last, or `live`. */
  version: string
  /** Whether the browser may still have a session. */
  wasSignedIn: boolean
  /** The first prompt, while its steps are shown. */
  guide: Guide | null
}

export interface Guide {
  /** Whether a program has run the prompt. The newest runs may no longer show it. */
  isCalled?: boolean
  project: number
  /** Whose steps they are: the id of the author. */
  author: number
  path: string
  /** The draft that the prompt was written into. */
  version: string
}

const defaults: Preferences = {
  theme: 'system',
  density: 'normal',
  letterKeys: true,
  project: null,
  version: 'live',
  wasSignedIn: false,
  guide: null,
}
const storageKey = 'stet.preferences'
const listeners = new Set<() => void>()
let current = stored(defaults)

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences)
}

export function preferences(): Preferences {
  return current
}

export function setPreferences(change: Partial<Preferences>): void {
  // Another tab may have changed other choices.
  current = { ...stored(current), ...change }
  try {
    localStorage.setItem(storageKey, JSON.stringify(current))
  } catch {
    // A browser may refuse storage. The choice then holds until the page is closed.
  }
  for (const listener of listeners) listener()
}

addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return
  current = stored(current)
  for (const listener of listeners) listener()
})

function stored(otherwise: Preferences): Preferences {
  try {
    const text = localStorage.getItem(storageKey)
    return text === null ? otherwise : { ...defaults, ...JSON.parse(text) }
  } catch {
    return otherwise
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
