import { useWatched, Watched } from '../ui/watched.ts'
import { store, stored } from './storage.ts'

/** Choices of this browser. They are kept in local storage and survive signing out. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  density: 'normal' | 'compact'
  /** Whether single letters are shortcuts. Speech input may press them by accident. */
  letterKeys: boolean
  /** Where each person was last, by the id of the author. */
  places: Readonly<Record<number, LastPlace>>
  /** Whether answers are shown as they were written, and not as Markdown. */
  rawAnswers: boolean
  /** The places that each person opened in this browser, newest first, by the id of the author. */
  recents: Readonly<Record<number, readonly Recent[]>>
  /** Whether the browser may still have a session. */
  wasSignedIn: boolean
  /** The first prompt, while its steps are shown. */
  guide: Guide | null
}

export interface LastPlace {
  /** The id of the project. */
  project: string
  /** The uuid of the version that was open in it last, or `live`. */
  version: string
}

/** A prompt, or a run. */
export type Recent = { project: string; version: string; path: string } | { run: string }

export interface Guide {
  project: number
  /** The id of the author who takes these steps. */
  author: number
  path: string
  documentUuid: string
  /** The draft that the prompt was written into. */
  version: string
}

const defaults: Preferences = {
  theme: 'system',
  density: 'normal',
  letterKeys: true,
  places: {},
  rawAnswers: false,
  recents: {},
  wasSignedIn: false,
  guide: null,
}
const storageKey = 'stet.preferences'
const chosen = new Watched(current(defaults))

export const preferences = chosen.get

export function usePreferences(): Preferences {
  return useWatched(chosen)
}

/** Without storage, a choice is kept until the page is closed. */
export function setPreferences(change: Partial<Preferences>): void {
  // Another tab may have changed other choices.
  chosen.set({ ...current(preferences()), ...change })
  store(storageKey, preferences())
}

addEventListener('storage', ({ key }) => key === storageKey && chosen.set(current(preferences())))

function current(otherwise: Preferences): Preferences {
  const kept = stored(storageKey)
  return kept ? { ...defaults, ...kept } : otherwise
}
