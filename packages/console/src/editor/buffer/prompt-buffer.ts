import { ApiError, type Prompt, type TreeItem } from '@stet/sdk'
import { draftForEdit } from '../../app/frame/switches/draft-for-edit.ts'
import { treeQuery } from '../../app/queries.ts'
import { noticeSignedOut, queryClient, stet } from '../../app/session.ts'
import { say } from '../../ui/toast.tsx'
import { Signal } from '../../ui/watched.ts'
import {
  type Autosave,
  type AutosaveEvent,
  type Base,
  type Effect,
  isUnsaved,
  type Save,
  type Stored,
  startAutosave,
  step,
} from '../autosave.ts'
import { failureOf, problemOf } from './failure-of.ts'
import { KeptCopy } from './kept-copy.ts'
import { saveTexts } from './save-texts.ts'
import { type BufferSnapshot, snapshotOf } from './snapshot.ts'
import { copiesOf, copyKey, dropCopy, type OfferedText, type PromptPlace, pageId } from './unsaved-copy.ts'

/** The part of the editor that the buffer uses. While a view is attached, it holds the text. */
export interface EditorPort {
  read(): string
  /** Shows a text that the buffer already has. `flash` marks the lines that another person changed. */
  show(text: string, flash: boolean): void
  /** Changes the text like the user does: the change can be undone, and `typed` follows. */
  edit(text: string): void
}

export interface SavedPlace {
  versionUuid: string
  contentHash: string
}

/** Milliseconds between two notices about text. Notices about anything else are immediate. */
const textNoticeMs = 120
let buffers = 0

/**
 * The text of one open prompt, and the truth about it while it is open. It carries out the decisions of `autosave.ts`.
 * It outlives the components that show it until its text is saved.
 */
export class PromptBuffer {
  readonly id = `${pageId}-${++buffers}`
  place: PromptPlace
  document: Prompt
  state: Autosave
  /** The colleague whose text came in last. */
  arrived: { by: string | null; at: number } | null = null
  savedAt: number | null = null
  /** Text of an earlier page, offered to the user. */
  offered: OfferedText[]
  /** The path to which the user of this page moves the prompt. */
  ownPath: string | null = null
  /** Called after `place` has changed. */
  onMove: () => void = () => {}

  #port: EditorPort | null = null
  #etag: string | null
  #timer: ReturnType<typeof setTimeout> | undefined
  #notice: ReturnType<typeof setTimeout> | undefined
  /** How often the prompt got another path. */
  #moves = 0
  #isHidden = false
  #isClosed = false
  readonly #changes = new Signal()
  readonly #kept = new KeptCopy(
    () => ({ key: copyKey(this.place, this.id), state: this.state }),
    () => this.#changed(true),
  )
  #waiters: { resolve: (saved: SavedPlace) => void; reject: (error: Error) => void }[] = []
  #snapshot: BufferSnapshot

  constructor(place: PromptPlace, document: Prompt, etag: string | null, isLive: boolean) {
    this.place = place
    this.document = document
    this.#etag = etag
    this.state = startAutosave(storedOf(document), isLive ? 'live' : 'draft', this.id)
    this.offered = copiesOf(place, document.movedFrom).filter(({ key, copy }) => {
      if (copy.text !== document.content) return true
      dropCopy(key)
      return false
    })
    this.#snapshot = snapshotOf(this)
  }

  /** Connects the editor. Returns the function that disconnects it. */
  attach(port: EditorPort): () => void {
    this.#port = port
    return () => {
      if (this.#port === port) this.#port = null
    }
  }

  readonly subscribe = this.#changes.watch

  snapshot = (): BufferSnapshot => this.#snapshot

  /** The editor calls this after each change. */
  typed(): void {
    if (!this.#port) return
    this.arrived = null
    this.dispatch({ on: 'typed', text: this.#port.read() })
  }

  /** Replaces the text, for example one line of the front matter. The editor keeps its cursor and can undo it. */
  edit(text: string): void {
    if (text === this.state.text) return
    if (this.#port) this.#port.edit(text)
    else this.dispatch({ on: 'typed', text })
  }

  /**
   * Saves now. Resolves when the server has acknowledged the newest text.
   *
   * @throws Error if the text cannot be saved now. It stays in the editor and in the browser's storage.
   */
  save(): Promise<SavedPlace> {
    const saved = new Promise<SavedPlace>((resolve, reject) => this.#waiters.push({ resolve, reject }))
    this.dispatch({ on: 'flush' })
    return saved
  }

  hidden(isHidden: boolean): void {
    this.#isHidden = isHidden
    if (!isHidden || this.#isClosed) return
    this.dispatch({ on: 'flush' })
    this.#kept.keepNow()
  }

  /** False once the prompt is shown nowhere and its text is saved. */
  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** False if the text is neither saved nor in the browser's storage. */
  get isKept(): boolean {
    return this.#kept.isKept
  }

  /** Another tab has removed a copy from the browser's storage. */
  copyRemoved(key: string | null): void {
    if (!this.#isClosed) this.#kept.removed(key)
  }

  /** Another tab has signed out. */
  copyWiped(): void {
    if (!this.#isClosed) this.#kept.wipe()
  }

  /** The user has signed in again. */
  resume(): void {
    if (this.#isClosed) return
    this.#kept.keepNow()
    this.dispatch({ on: 'signed-in' })
  }

  /** Brings text of an earlier page back. Saves newer text first, so that nothing is replaced unsaved. */
  async restore({ key, copy, versionUuid, path }: OfferedText): Promise<void> {
    if (isUnsaved(this.state)) await this.save().catch(() => {})
    const { unsure, ...left } = copy
    const isHere = versionUuid === this.place.versionUuid && path === this.place.path
    this.dispatch({ on: 'restored', ...left, ...(unsure && isHere && { unsure }) })
    // Until the buffer has the text and its own copy of it, the offer stays.
    this.#kept.keepNow()
    if (this.state.text === copy.text && this.isKept) this.discard({ key })
  }

  discard({ key }: { key: string }): void {
    dropCopy(key)
    this.offered = this.offered.filter((offer) => offer.key !== key)
    this.#changed(true)
  }

  dispatch(event: AutosaveEvent): void {
    if (this.#isClosed) return
    const [next, effects] = step(this.state, event)
    this.state = next
    for (const effect of effects) this.#perform(effect)
    this.#settleWaiters()
    this.#changed(event.on !== 'typed')
  }

  /** Reads the stored text, to show what a colleague wrote. Sends the text's ETag, so mostly nothing is transferred. */
  async poll(): Promise<void> {
    const { epoch, conflict, reading, sending, unsure } = this.state
    if (conflict || reading || sending || unsure) return
    try {
      const { data, response } = await this.#get(this.#etag ? { 'If-None-Match': this.#etag } : {})
      if (epoch !== this.state.epoch) return
      this.dispatch({ on: 'polled', epoch, stored: storedOf(data) })
      // A text that came too late is not shown. With its ETag, later polls would get 304 and never bring it.
      if (this.state.base.contentHash !== data.contentHash) return
      this.#etag = response.headers.get('etag')
      this.#received(data)
      this.#changed(true)
    } catch (error) {
      if (isMissing(error)) this.dispatch({ on: 'polled', epoch, stored: { text: '', contentHash: '' } })
      noticeSignedOut(error)
    }
  }

  /** Takes the prompt's path from a list of its version, and says so if another page moved it. True if it has changed. */
  follow(items: readonly TreeItem[]): boolean {
    const { documentUuid } = this.document
    const path = items.find((item) => item.documentUuid === documentUuid && item.change !== 'deleted')?.path
    if (path === undefined || path === this.place.path || this.#isClosed) return false
    if (path !== this.ownPath) say(`${this.place.path} was moved to ${path}`)
    this.document = { ...this.document, path }
    this.#moves++
    this.#move({ path })
    this.#changed(true)
    return true
  }

  /** Releases the timers and ignores all later events. Unsaved text is lost. */
  close(): void {
    this.#isClosed = true
    this.#kept.stop()
    clearTimeout(this.#timer)
    clearTimeout(this.#notice)
  }

  #perform(effect: Effect): void {
    switch (effect.do) {
      case 'send':
        this.#kept.keepNow()
        void this.#send(effect.save, effect.base)
        break
      case 'read':
        void this.#read()
        break
      case 'find-draft':
        void this.#findDraft()
        break
      case 'wait':
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.dispatch({ on: effect.for }), effect.ms)
        break
      case 'stop-waiting':
        clearTimeout(this.#timer)
        break
      case 'keep':
        this.#kept.keep()
        break
      case 'forget':
        this.#kept.forget()
        break
      case 'show':
        this.arrived = effect.isTheirs ? { by: effect.stored.by ?? null, at: Date.now() } : null
        this.#port?.show(effect.stored.text, effect.isTheirs)
    }
  }

  async #send(save: Save, base: Base): Promise<void> {
    const { key } = save
    const { texts, keepalive } = saveTexts(save, base, this.#isHidden)
    const client = keepalive ? stet.withOptions({ fetchOptions: { keepalive: true } }) : stet
    try {
      const { data, response } = await client.prompts
        .createOrUpdate(this.place.path, {
          ...this.#scope(),
          ...texts,
          baseHash: base.contentHash,
          merge: true,
          // At another path, or without the base, it is another request.
          idempotencyKey: `${key}-${this.#moves}${'base' in texts ? '' : '-alone'}`,
          maxRetries: 0,
        })
        .withResponse()
      this.#etag = response.headers.get('etag')
      this.#received(data)
      this.savedAt = Date.now()
      this.dispatch({ on: 'saved', key, stored: storedOf(data), isMerged: data.merged === true })
      void this.#invalidate()
    } catch (error) {
      noticeSignedOut(error)
      this.dispatch({ on: 'failed', key, failure: failureOf(error) })
    }
  }

  /** After a 409: which text does the server hold? */
  async #read(): Promise<void> {
    try {
      const { data: document } = await this.#get()
      this.#received(document)
      this.dispatch({ on: 'read', stored: storedOf(document) })
    } catch (error) {
      noticeSignedOut(error)
      if (isMissing(error)) this.dispatch({ on: 'read', stored: { text: '', contentHash: '' } })
      else this.dispatch({ on: 'read-failed', failure: problemOf(error) })
    }
  }

  async #findDraft(): Promise<void> {
    try {
      const draft = await draftForEdit(stet, this.place.projectId)
      this.#move({ versionUuid: draft.uuid })
      this.dispatch({ on: 'moved' })
      say(`Your changes go into ${draft.isNew ? 'the new draft' : 'your draft'} ${draft.title}`)
      void queryClient.invalidateQueries({ queryKey: ['project', this.place.projectId, 'versions'] })
    } catch (error) {
      noticeSignedOut(error)
      this.dispatch({ on: 'move-failed', failure: problemOf(error) })
    }
  }

  #move(to: Partial<PromptPlace>): void {
    const earlier = copyKey(this.place, this.id)
    this.place = { ...this.place, ...to }
    this.#kept.keepNow()
    dropCopy(earlier)
    // The browser may have had no room for both.
    this.#kept.keepNow()
    this.onMove()
  }

  /** Reads the stored text. If another page has moved the prompt, the text follows it first. */
  async #get(headers: Record<string, string> = {}): Promise<{ data: Prompt; response: Response }> {
    const { path } = this.place
    const isElsewhere = async () => this.place.path !== path || (await this.#findMoved(path))
    try {
      const read = await stet.prompts.get(path, { ...this.#scope(), maxRetries: 0, headers }).withResponse()
      const isSame = read.data.documentUuid === this.document.documentUuid
      if (isSame || !(await isElsewhere())) return read
    } catch (error) {
      if (!isMissing(error) || !(await isElsewhere())) throw error
    }
    return this.#get()
  }

  async #findMoved(from: string): Promise<boolean> {
    const { projectId, versionUuid } = this.place
    const items = await queryClient.fetchQuery({ ...treeQuery(projectId, versionUuid), staleTime: 0 })
    // The screen may have followed the same list already.
    return this.follow(items) || this.place.path !== from
  }

  /** A saved text changes its version: its tree, its differences and what it refers to. */
  #invalidate(): Promise<void> {
    const { projectId, versionUuid } = this.place
    const isChanged = ([, of, what, version]: readonly unknown[]) =>
      of === projectId && (what === 'versions' || version === versionUuid)
    return queryClient.invalidateQueries({ queryKey: ['project'], predicate: ({ queryKey }) => isChanged(queryKey) })
  }

  #received(document: Prompt): void {
    // The prompt may have moved since the request was sent.
    this.document = { ...document, path: this.place.path }
  }

  #settleWaiters(): void {
    const { conflict, problem, sending, reading, place } = this.state
    const waiters = this.#waiters
    if (!isUnsaved(this.state) && !conflict) {
      this.#waiters = []
      const { versionUuid } = this.document
      const { contentHash } = this.state.base
      for (const { resolve } of waiters) resolve({ versionUuid, contentHash })
    } else if (conflict || (problem && !sending && !reading && place !== 'moving')) {
      this.#waiters = []
      const reason = conflict ? 'It was also changed by someone else.' : 'The text is kept in this browser.'
      for (const { reject } of waiters) reject(new Error(`The prompt could not be saved. ${reason}`))
    }
  }

  #scope(): { projectId: number; versionUuid: string } {
    return { projectId: this.place.projectId, versionUuid: this.place.versionUuid }
  }

  /** Typing changes the text with each key, but nothing outside of the editor needs it that often. */
  #changed(isUrgent: boolean): void {
    const next = snapshotOf(this)
    const isOther = next.status.kind !== this.#snapshot.status.kind
    if (!isUrgent && !isOther) {
      this.#notice ??= setTimeout(() => this.#changed(true), textNoticeMs)
      return
    }
    clearTimeout(this.#notice)
    this.#notice = undefined
    this.#snapshot = next
    this.#changes.notify()
  }
}

function storedOf({ content, contentHash, updatedAt, updatedBy }: Prompt): Stored {
  return { text: content, contentHash, at: updatedAt, by: updatedBy?.name ?? null }
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.reason === 'unknown-document'
}
