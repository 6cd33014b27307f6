import { Watched } from './watched.ts'

export interface Said {
  text: string
  /** An action for the user, for example "Undo". */
  action?: { label: string; onSelect: () => void } | undefined
}

/** The toasts that are not shown yet. */
export const unshown = new Watched<readonly Said[]>([])

/** Says that something happened, for a few seconds. Errors do not belong here: they are shown where they occurred. */
export function say(text: string, action?: Said['action']): void {
  unshown.set([...unshown.get(), { text, action }])
}
