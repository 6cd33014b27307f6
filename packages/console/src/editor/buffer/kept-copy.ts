import { mayKeep } from '../../app/unsaved.ts'
import type { Autosave } from '../autosave.ts'
import { dropCopy, keepCopy } from './unsaved-copy.ts'

/** Writing a large text takes milliseconds, so not every key writes it. */
const keepMs = 250

/** The copy of one buffer's unsaved text in the browser's storage. */
export class KeptCopy {
  /** False while the browser has no room for the copy, or must not have it. */
  isKept = true
  readonly #source: () => { key: string; state: Autosave }
  readonly #onChange: () => void
  /** The source of the copy. Most events change none of it. */
  #stored: { mark: string; text: string } | null = null
  #at = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `onChange` is called when `isKept` has changed. */
  constructor(source: () => { key: string; state: Autosave }, onChange: () => void) {
    this.#source = source
    this.#onChange = onChange
  }

  /** Keeps the text within 250 ms. */
  keep(): void {
    if (this.#timer !== undefined) return
    const wait = this.#at + keepMs - Date.now()
    if (wait <= 0) this.keepNow()
    else this.#timer = setTimeout(() => this.keepNow(), wait)
  }

  /** Keeps the text before the page may end. */
  keepNow(): void {
    this.stop()
    const { key, state } = this.#source()
    const { text, base, epoch } = state
    const unsure = state.sending ?? state.unsure
    const mark = `${key} ${base.contentHash} ${unsure?.key} ${epoch}`
    if (!state.kept || (this.#stored?.mark === mark && this.#stored.text === text)) return
    const left = { text, baseHash: base.contentHash, ...(base.text !== null && { base: base.text }) }
    const isKept = mayKeep() && keepCopy(key, { ...left, ...(unsure && { unsure }), at: Date.now() })
    this.#at = Date.now()
    this.#stored = isKept ? { mark, text } : null
    if (isKept === this.isKept) return
    this.isKept = isKept
    this.#onChange()
  }

  /** Keeps the copy again if another tab has discarded it. A null key means that all copies were removed. */
  removed(key: string | null): void {
    if (key !== null && key !== this.#source().key) return
    this.#stored = null
    this.keepNow()
  }

  /** Removes the copy. It is written again once the user has signed in. */
  wipe(): void {
    dropCopy(this.#source().key)
    this.#stored = null
    this.keepNow()
  }

  forget(): void {
    this.stop()
    this.#stored = null
    this.isKept = true
    dropCopy(this.#source().key)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
