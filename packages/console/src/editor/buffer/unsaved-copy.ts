import { base, queryClient, sessionQuery } from '../../app/session.ts'
import { stored, storedKeys, storedText, storeLargest, unstore } from '../../app/storage.ts'
import { unsavedPrefix } from '../../app/unsaved.ts'
import { listen, Signal } from '../../ui/watched.ts'
import type { LeftText } from '../autosave.ts'

/** Text that the server has not acknowledged, as it is kept in the browser's storage. */
export interface UnsavedCopy extends LeftText {
  /** Milliseconds since 1970. */
  at: number
  /** The person who wrote it. */
  by?: { id: number; name: string }
}

/** Where a prompt is: the address of its copies. */
export interface PromptPlace {
  projectId: number
  versionUuid: string
  path: string
}

/** Begins the id of each buffer of this page, so that the page does not offer its own copies. */
export const pageId = randomId()

/** Servers at different paths of one origin share a storage. A path cannot contain the separator `#`. */
export function copyKey({ projectId, versionUuid, path }: PromptPlace, bufferId: string): string {
  return `${unsavedPrefix}${base.pathname}#${projectId}#${versionUuid}#${path}#${bufferId}`
}

/** A copy that an earlier page or another tab has left. */
export interface OfferedText {
  key: string
  copy: UnsavedCopy
  /** The prompt and the version that the text was written in. */
  path: string
  versionUuid: string
}

/**
 * Keeps the text with as much of its past as the browser has room for, and removes kept inputs of runs to make room.
 * Without its base the text cannot be merged, and without its request it may conflict with itself. Returns false if
 * nothing is kept.
 */
export function keepCopy(key: string, copy: Omit<UnsavedCopy, 'by'>): boolean {
  const author = queryClient.getQueryData(sessionQuery.queryKey)?.apiKey.author
  const whole = { ...copy, ...(author && { by: { id: author.id, name: author.name } }) }
  const { base: _base, ...withoutBase } = whole
  const { unsure: _unsure, ...alone } = withoutBase
  return storeLargest(key, [whole, withoutBase, alone], `${unsavedPrefix}inputs#`)
}

const dropped = new Signal()

export function dropCopy(key: string): void {
  unstore(key)
  dropped.notify()
}

/** Whether the copy is still in the browser's storage. */
export function isThere({ key }: OfferedText): boolean {
  return storedText(key) !== null
}

/** Calls `listener` when this page or another one has removed a copy. Returns the function that ends this. */
export function onCopyDropped(listener: () => void): () => void {
  const stops = [dropped.watch(listener), listen(window, 'storage', ({ newValue }) => newValue === null && listener())]
  return () => stops.forEach((stop) => void stop())
}

/** Copies that other pages left in a project, the newest first. */
export function copiesIn(projectId: number): OfferedText[] {
  return storedKeys(unsavedPrefix)
    .flatMap((key) => readCopy(key, projectId))
    .sort((a, b) => b.copy.at - a.copy.at)
}

/**
 * Copies that other pages left for this prompt. Those of its version come first, then the newest. A draft may have been
 * published or deleted since, so its copies are offered in every version.
 *
 * @param movedFrom the path before the draft moved the prompt
 */
export function copiesOf(place: PromptPlace, movedFrom?: string): OfferedText[] {
  const isOwn = ({ versionUuid }: OfferedText) => Number(versionUuid === place.versionUuid)
  return copiesIn(place.projectId)
    .filter(({ path }) => path === place.path || path === movedFrom)
    .sort((a, b) => isOwn(b) - isOwn(a))
}

function readCopy(key: string, projectId: number): OfferedText[] {
  const [server, project, versionUuid = '', path = '', bufferId = ''] = key.split('#')
  if (server !== `${unsavedPrefix}${base.pathname}` || project !== String(projectId)) return []
  if (bufferId.startsWith(`${pageId}-`)) return []
  const copy = stored(key)
  return isCopy(copy) ? [{ key, copy, versionUuid, path }] : []
}

/** Another release, or anything else on this origin, may have written the entry. */
function isCopy(value: unknown): value is UnsavedCopy {
  const { text, baseHash, base, unsure, at, by } = Object(value)
  const isTime = typeof at === 'number' && !Number.isNaN(new Date(at).getTime())
  return (
    isText(text) &&
    isText(baseHash) &&
    isTime &&
    (base === undefined || isText(base)) &&
    (unsure === undefined || (isText(unsure?.key) && isText(unsure.text))) &&
    (by === undefined || isWriter(by))
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isWriter(value: unknown): boolean {
  const { id, name } = Object(value)
  return Number.isInteger(id) && isText(name)
}

/** randomUUID is missing on pages of plain http. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
