import { base } from '../../app/session.ts'
import { unsavedPrefix } from '../../app/unsaved.ts'

/** Text that the server has not acknowledged, as it is kept in the browser's storage. */
export interface UnsavedCopy {
  text: string
  /** The hash of the text that it was written on. */
  baseHash: string
  /** Texts sent without a response. The server may hold one of them. */
  sent: readonly string[]
  /** Milliseconds since 1970. */
  at: number
}

/** Where a prompt is: the address of its copies. */
export interface PromptPlace {
  projectId: number
  versionUuid: string
  path: string
}

/** Servers at different paths of one origin share a storage. A path cannot contain the separator `#`. */
export function copyKey({ projectId, versionUuid, path }: PromptPlace, bufferId: string): string {
  return `${unsavedPrefix}${base.pathname}#${projectId}#${versionUuid}#${path}#${bufferId}`
}

/** A copy that an earlier page or another tab has left. */
export interface OfferedText {
  key: string
  copy: UnsavedCopy
  /** The version that the text was written in. */
  versionUuid: string
}

/** Returns false if the browser has no room for the copy. Kept inputs of runs are removed to make room. */
export function keepCopy(key: string, copy: UnsavedCopy): boolean {
  const text = JSON.stringify(copy)
  if (store(key, text)) return true
  for (const other of inputKeys()) {
    localStorage.removeItem(other)
    if (store(key, text)) return true
  }
  return false
}

function store(key: string, text: string): boolean {
  try {
    localStorage.setItem(key, text)
    return true
  } catch {
    return false
  }
}

function inputKeys(): string[] {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(`${unsavedPrefix}inputs#`))
  } catch {
    return []
  }
}

export function dropCopy(key: string): void {
  try {
    localStorage.removeItem(key)
  } catch {
    // Without storage there is no copy.
  }
}

/**
 * Copies that other pages left for this prompt. Those of its version come first, then the newest. A draft may have been
 * published or deleted since, so its copies are offered in every version.
 */
export function copiesOf(place: PromptPlace, pageId: string): OfferedText[] {
  const isOwn = ({ versionUuid }: OfferedText) => Number(versionUuid === place.versionUuid)
  try {
    return Object.keys(localStorage)
      .flatMap((key) => readCopy(key, place, pageId))
      .sort((a, b) => isOwn(b) - isOwn(a) || b.copy.at - a.copy.at)
  } catch {
    return []
  }
}

function readCopy(key: string, { projectId, path }: PromptPlace, pageId: string): OfferedText[] {
  const [server, project, versionUuid = '', copied, bufferId = ''] = key.split('#')
  if (server !== `${unsavedPrefix}${base.pathname}` || project !== String(projectId) || copied !== path) return []
  if (bufferId.startsWith(`${pageId}-`)) return []
  try {
    return [{ key, copy: JSON.parse(localStorage.getItem(key) ?? ''), versionUuid }]
  } catch {
    return []
  }
}
