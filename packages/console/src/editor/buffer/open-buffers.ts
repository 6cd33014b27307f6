import type { TreeItem } from '@stet/sdk'
import { isOutage, noticeOutage, onOutageEnd } from '../../app/frame/lines/connection.ts'
import { noticeSignedOut, onResume, stet } from '../../app/session.ts'
import { noticeTexts, registerTexts } from '../../app/unsaved.ts'
import { Signal } from '../../ui/watched.ts'
import { isUnsaved } from '../autosave.ts'
import { PromptBuffer } from './prompt-buffer.ts'
import type { PromptPlace } from './unsaved-copy.ts'
import { watchPage } from './watch-page.ts'

/** A buffer, or the request that brings its text. */
export interface Opening {
  buffer: PromptBuffer | null
  error: unknown
}

interface Entry {
  /** The first address of the text. */
  place: PromptPlace
  opening: Opening
  users: number
  isLoading: boolean
  /** Null while the page is not watched. It is watched until the text is saved, also without users. */
  stopWatching: (() => void) | null
  changed: Signal
}

const closed: Opening = { buffer: null, error: null }
/** By the addresses of their prompts. A text whose address was taken by another one has a symbol. */
const entries = new Map<string | symbol, Entry>()
const anyChanged = new Signal()

/** The prompts that are open, and those that are closed but not yet saved. */
export const openBuffers = {
  keyOf: ({ projectId, versionUuid, path }: PromptPlace) => `${projectId} ${versionUuid} ${path}`,

  get(place: PromptPlace): Opening {
    return entryOf(place).opening
  },

  /** The text of a prompt if it is open, or closed and not yet saved. */
  find(place: PromptPlace): PromptBuffer | null {
    return entries.get(openBuffers.keyOf(place))?.opening.buffer ?? null
  },

  subscribe(place: PromptPlace, listener: () => void): () => void {
    return entryOf(place).changed.watch(listener)
  },

  /** Opens the prompt unless it is open. Returns the function that closes it. */
  use(place: PromptPlace): () => void {
    const entry = entryOf(place)
    entry.users++
    entry.stopWatching ??= watchPage(() => entry.opening.buffer)
    noticeChange()
    if (!entry.opening.buffer && !entry.opening.error && !entry.isLoading) void load(place, entry)
    return () => {
      entry.users--
      // React closes and opens at once in development, and when the address of the same text changes.
      setTimeout(() => {
        const { buffer } = entry.opening
        const key = openBuffers.keyOf(place)
        if (buffer && key !== openBuffers.keyOf(buffer.place) && entries.get(key) === entry) entries.delete(key)
        release(entry)
        noticeChange()
      })
    }
  },

  /** Calls `listener` whenever `holdsText` may have changed. */
  watch: anyChanged.watch,

  /** Whether the prompt is open with text that is not saved, or that the user must choose about. */
  holdsText(place: PromptPlace): boolean {
    const state = openBuffers.find(place)?.state
    return state !== undefined && (isUnsaved(state) || state.conflict !== null)
  },

  /** Gives the texts of a version the paths that their prompts have in its newest list. */
  follow({ projectId, versionUuid }: Omit<PromptPlace, 'path'>, items: readonly TreeItem[]): void {
    for (const buffer of allBuffers())
      if (buffer.place.projectId === projectId && buffer.place.versionUuid === versionUuid) buffer.follow(items)
  },

  /** An address that is open without a prompt may have one now. */
  retryMissing(place: PromptPlace): void {
    if (entries.get(openBuffers.keyOf(place))?.opening.error) openBuffers.retry(place)
  },

  /** Reads a prompt again that could not be opened. */
  retry(place: PromptPlace): void {
    const entry = entryOf(place)
    update(entry, closed)
    void load(place, entry)
  },

  /**
   * Drops what a draft changes at a path, with the other ends of its moves. Unsaved text of the draft is saved first: a
   * save that arrives later would change a prompt again.
   *
   * @throws Error if the text at the path cannot be saved now. Nothing is reverted then.
   */
  async revert(place: PromptPlace): Promise<void> {
    const { projectId, versionUuid } = place
    const saved = allBuffers()
      .filter((buffer) => buffer.place.projectId === projectId && buffer.place.versionUuid === versionUuid)
      // In a conflict nothing is sent until the user has chosen.
      .filter(({ state }) => !state.conflict)
      .map((buffer) => (buffer.place.path === place.path ? buffer.save() : buffer.save().catch(() => undefined)))
    await Promise.all(saved)
    await stet.versions.revert(place.versionUuid, { projectId: place.projectId, paths: [place.path] })
  },
}

function entryOf(place: PromptPlace): Entry {
  const key = openBuffers.keyOf(place)
  const entry = entries.get(key) ?? {
    place,
    opening: closed,
    users: 0,
    isLoading: false,
    stopWatching: null,
    changed: new Signal(),
  }
  entries.set(key, entry)
  return entry
}

async function load(place: PromptPlace, entry: Entry): Promise<void> {
  entry.isLoading = true
  try {
    const scope = { projectId: place.projectId, versionUuid: place.versionUuid }
    // Always from the server: a text of a cache may be older than what another page has saved.
    const [{ data, response }, version] = await Promise.all([
      stet.prompts.get(place.path, scope).withResponse(),
      stet.versions.get(place.versionUuid, { projectId: place.projectId }),
    ])
    const buffer = new PromptBuffer(place, data, response.headers.get('etag'), version.status === 'merged')
    // Typing on live has found a draft: the same text has a second address, until nothing shows it under the first.
    // A moved prompt has one as well.
    buffer.onMove = () => {
      if (entry.users === 0) forget(entry)
      const key = openBuffers.keyOf(buffer.place)
      const other = entries.get(key)
      // It may have text that could not be saved, which the user must still find.
      if (other !== entry && other?.opening.buffer) entries.set(Symbol(), other)
      entries.set(key, entry)
    }
    buffer.subscribe(noticeChange)
    entry.isLoading = false
    update(entry, { buffer, error: null })
  } catch (error) {
    entry.isLoading = false
    noticeOutage(error)
    noticeSignedOut(error)
    update(entry, { buffer: null, error })
  }
}

function update(entry: Entry, opening: Opening): void {
  entry.opening = opening
  entry.changed.notify()
}

/** A closed buffer stays until its text is saved. It keeps saving in the background. */
function release(entry: Entry): void {
  const { buffer } = entry.opening
  if (entry.users > 0) return
  if (buffer && isUnsaved(buffer.state)) {
    const stop = buffer.subscribe(() => {
      if (isUnsaved(buffer.state)) return
      stop()
      release(entry)
    })
    buffer.dispatch({ on: 'flush' })
    return
  }
  buffer?.close()
  entry.stopWatching?.()
  entry.stopWatching = null
  forget(entry)
}

function forget(entry: Entry): void {
  for (const [key, value] of entries) if (value === entry) entries.delete(key)
}

registerTexts({
  save: () => Promise.allSettled(allBuffers().map((buffer) => buffer.save())),
  unsaved: () =>
    allBuffers()
      .filter(({ state }) => isUnsaved(state))
      .map(({ place }) => place),
  stop: () => {
    for (const buffer of allBuffers()) buffer.close()
  },
  wipe: () => {
    for (const buffer of allBuffers()) buffer.copyWiped()
  },
})

onOutageEnd(() => {
  for (const { place, opening } of [...entries.values()]) if (isOutage(opening.error)) openBuffers.retry(place)
})

// Text that a 401 has stopped is saved as soon as the user has signed in again.
onResume(() => {
  for (const buffer of allBuffers()) buffer.resume()
})

function allBuffers(): PromptBuffer[] {
  return buffersOf([...entries.values()])
}

/** A text on its way into a draft has two entries. */
function buffersOf(some: readonly Entry[]): PromptBuffer[] {
  return [...new Set(some.map(({ opening }) => opening.buffer).filter((buffer) => buffer !== null))]
}

function noticeChange(): void {
  const left = buffersOf([...entries.values()].filter(({ users }) => users === 0))
  const stuck = left.filter(({ state }) => state.problem ?? state.conflict)
  noticeTexts(stuck.map(({ id, place, state }) => ({ ...place, id, text: state.text })))
  anyChanged.notify()
}
