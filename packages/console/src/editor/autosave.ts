import { mergeLines } from '@stet/template/merge'

/**
 * Decides when a text is saved, repeated, or held back. Pure: `step` takes a state and an event, and returns the next
 * state with the effects that the buffer carries out. No event may lose a character: at any time the newest text is
 * in `text`, and until the server has acknowledged it, also in the browser's storage. The server merges changes of
 * different lines; only if lines overlap, the user has to choose.
 */

/** A text on the server. An empty hash means that there is no such prompt. */
export interface Stored {
  text: string
  contentHash: string
  /** The person who wrote it, if known. */
  by?: string | null
  at?: string
}

/** The stored text that the user has changed. Its text is null if a copy of an earlier release has only the hash. */
export type Base = Omit<Stored, 'text'> & { text: string | null }

/**
 * One request. It is repeated under its own Idempotency-Key, so its text never changes, and neither does the base until
 * there is a response. A newer text has another key: otherwise it would get the merge of an older one.
 */
export interface Save {
  key: string
  text: string
  /** An earlier attempt got no response, so the server may have stored the text. */
  mayBeStored?: true
}

export type Problem =
  | { kind: 'signed-out' }
  | { kind: 'offline' }
  /** 429 or 503. `retryMs` is how long the server asks to wait. */
  | { kind: 'busy'; retryMs: number }
  /** Repeating the request would fail again, for example because the text is too large. */
  | { kind: 'refused'; message: string }

export type Failure = Problem | { kind: 'changed' } | { kind: 'not-a-draft' }

export interface Autosave {
  text: string
  /** The server's text, as far as it has acknowledged or reported it. */
  base: Base
  /** Live cannot be edited. `moving` waits for a draft. */
  place: 'draft' | 'live' | 'moving'
  /** The request in flight. There is never more than one. */
  sending: Save | null
  /** A request without a response. It is repeated before anything else is sent. */
  unsure: Save | null
  /** A 409 came, and the stored text is being read. */
  reading: boolean
  waiting: 'quiet' | 'retry' | null
  /** Save as soon as nothing blocks it. */
  due: boolean
  failures: number
  problem: Problem | null
  /** The other text. Nothing is sent until the user has chosen. */
  conflict: Stored | null
  /** Whether a copy is in the browser's storage. */
  kept: boolean
  /** Begins the keys of all requests. */
  id: string
  saves: number
  /** Changes whenever a response of an earlier poll would be out of date. */
  epoch: number
}

export type AutosaveEvent =
  | { on: 'typed'; text: string }
  | { on: 'quiet' }
  | { on: 'retry' }
  /** Blur, ⌘S, a hidden tab, or a run. */
  | { on: 'flush' }
  /** `isMerged`: the stored text also has changes of other tabs or people. */
  | { on: 'saved'; key: string; stored: Stored; isMerged: boolean }
  | { on: 'failed'; key: string; failure: Failure }
  /** The response to `read`. */
  | { on: 'read'; stored: Stored }
  | { on: 'read-failed'; failure: Problem }
  /** The response to a poll that was sent at `epoch`. */
  | { on: 'polled'; epoch: number; stored: Stored }
  /** The version that is open was published meanwhile. */
  | { on: 'published' }
  | { on: 'moved' }
  | { on: 'move-failed'; failure: Problem }
  /** The user has merged the texts of a conflict. */
  | { on: 'resolved'; text: string }
  /** The user gives up a text whose prompt was deleted. */
  | { on: 'let-go' }
  /** Text of a page that ended before its save was acknowledged. */
  | ({ on: 'restored' } & LeftText)
  | { on: 'online' }
  | { on: 'signed-in' }

/** The facts that a page needs to continue with the text of another one. */
export interface LeftText {
  text: string
  baseHash: string
  /** The text with this hash. */
  base?: string
  /** The request that the page had sent when it ended. */
  unsure?: Save
}

export type Effect =
  | { do: 'send'; save: Save; base: Base }
  | { do: 'read' }
  | { do: 'wait'; for: 'quiet' | 'retry'; ms: number }
  | { do: 'stop-waiting' }
  | { do: 'keep' }
  | { do: 'forget' }
  /** The editor's text is replaced. `isTheirs`: another person wrote the new one. */
  | { do: 'show'; stored: Stored; isTheirs: boolean }
  | { do: 'find-draft' }

/** Milliseconds after the last key. */
const quietMs = 600
const longestRetryMs = 30_000

export function startAutosave(base: Stored, place: 'draft' | 'live', id: string): Autosave {
  return {
    text: base.text,
    base,
    place,
    sending: null,
    unsure: null,
    reading: false,
    waiting: null,
    due: false,
    failures: 0,
    problem: null,
    conflict: null,
    kept: false,
    id,
    saves: 0,
    epoch: 0,
  }
}

/** Whether some text is not yet acknowledged by the server. */
export function isUnsaved(state: Autosave): boolean {
  return state.text !== state.base.text || state.sending !== null || state.unsure !== null
}

export function step(state: Autosave, event: AutosaveEvent): [Autosave, Effect[]] {
  const next = { ...state }
  const effects: Effect[] = []
  const handle = handlers[event.on] as (next: Autosave, event: AutosaveEvent, effects: Effect[]) => void
  handle(next, event, effects)
  settle(next, effects)
  return [next, effects]
}

type Handlers = {
  [On in AutosaveEvent['on']]: (next: Autosave, event: Extract<AutosaveEvent, { on: On }>, effects: Effect[]) => void
}

const handlers: Handlers = {
  typed(next, { text }, effects) {
    next.text = text
    if (next.problem?.kind === 'refused') next.problem = null
    if (next.waiting === 'retry' || next.problem?.kind === 'signed-out') return
    next.waiting = 'quiet'
    effects.push({ do: 'wait', for: 'quiet', ms: quietMs })
  },
  quiet(next) {
    next.waiting = null
    next.due = true
  },
  retry(next, _, effects) {
    retry(next, effects)
  },
  flush(next, _, effects) {
    // A server that asked to wait is not asked again before its time.
    if (next.waiting === 'retry' && next.problem?.kind !== 'busy') retry(next, effects)
    if (next.waiting === 'quiet') stopWaiting(next, effects)
    if (next.problem?.kind === 'refused') next.problem = null
    next.due = true
  },
  saved(next, { key, stored, isMerged }, effects) {
    if (next.sending?.key !== key) return
    const { text } = next.sending
    next.sending = null
    settled(next)
    // The author of the merged text is the user, but the lines that come in are not.
    if (isMerged) bringIn(next, text, { ...stored, by: null }, effects)
    else next.base = { ...stored, text }
  },
  failed(next, { key, failure }, effects) {
    if (next.sending?.key === key) failed(next, next.sending, failure, effects)
  },
  read(next, { stored }, effects) {
    if (next.reading) compare(next, stored, effects)
  },
  'read-failed'(next, { failure }, effects) {
    if (next.reading) wait(next, failure, effects)
  },
  polled(next, { epoch, stored }, effects) {
    if (epoch === next.epoch) polled(next, stored, effects)
  },
  published(next) {
    if (next.place === 'draft' && !next.sending) next.place = 'live'
  },
  moved(next) {
    if (next.place !== 'moving') return
    next.place = 'draft'
    next.due = true
    settled(next)
    // To another version it is another request.
    if (next.unsure) next.unsure = { ...next.unsure, key: nextKey(next) }
  },
  'move-failed'(next, { failure }, effects) {
    if (next.place !== 'moving') return
    next.place = 'live'
    wait(next, failure, effects)
  },
  resolved(next, { text }, effects) {
    resolve(next, text, effects)
  },
  'let-go'(next) {
    if (!next.conflict) return
    next.base = { ...next.conflict, text: next.text }
    next.conflict = null
    next.unsure = null
  },
  restored(next, left, effects) {
    restore(next, left, effects)
  },
  online(next, _, effects) {
    if (next.problem?.kind === 'offline') retry(next, effects)
  },
  'signed-in'(next, _, effects) {
    if (next.problem?.kind === 'signed-out') retry(next, effects)
  },
}

function retry(next: Autosave, effects: Effect[]): void {
  stopWaiting(next, effects)
  // The problem stays in view until a response shows that it has ended.
  if (next.problem?.kind === 'signed-out') next.problem = null
  if (next.reading) effects.push({ do: 'read' })
  next.due = true
}

function settled(next: Autosave): void {
  next.problem = null
  next.failures = 0
  next.epoch++
}

function failed(next: Autosave, save: Save, failure: Failure, effects: Effect[]): void {
  next.sending = null
  next.epoch++
  next.due = true
  // Without a response the server may have stored the text. The same request is repeated, because a newer text with
  // changes in the same lines would then be a conflict of the user with themselves.
  if (failure.kind === 'offline') next.unsure = { ...save, mayBeStored: true }
  else if (failure.kind === 'signed-out' || failure.kind === 'busy') next.unsure = save.mayBeStored ? save : null
  if (failure.kind === 'changed') {
    next.reading = true
    effects.push({ do: 'read' })
  } else if (failure.kind === 'not-a-draft') next.place = 'live'
  else wait(next, failure, effects)
}

function wait(next: Autosave, problem: Problem, effects: Effect[]): void {
  next.problem = problem
  if (problem.kind === 'refused') {
    next.due = false
    next.reading = false
  }
  if (problem.kind !== 'offline' && problem.kind !== 'busy') return
  const backoff = Math.min(1000 * 2 ** next.failures, longestRetryMs)
  next.failures++
  next.waiting = 'retry'
  effects.push({ do: 'wait', for: 'retry', ms: problem.kind === 'busy' ? Math.max(problem.retryMs, 1000) : backoff })
}

/** After a 409: whose text does the server hold? */
function compare(next: Autosave, stored: Stored, effects: Effect[]): void {
  next.reading = false
  settled(next)
  if (stored.contentHash === next.base.contentHash) return
  if (!stored.contentHash) next.conflict = stored
  else if (stored.text === next.text) next.base = stored
  else bringIn(next, next.base.text, stored, effects, next.text !== next.base.text)
}

function polled(next: Autosave, stored: Stored, effects: Effect[]): void {
  if (stored.contentHash === next.base.contentHash) return
  if (next.conflict || next.reading || next.place === 'moving') return
  if (isUnsaved(next)) {
    // The save merges.
    next.due = true
    return
  }
  next.epoch++
  // A deleted prompt leaves the text on the screen, and the user decides.
  if (!stored.contentHash) next.conflict = stored
  else bringIn(next, next.base.text, stored, effects)
}

/**
 * Adds what `stored` changed since `from`. Lines that the user has changed too stay as they are, and are a conflict.
 *
 * @param isRefused the server has already refused to merge the texts, for example because the result does not compile
 */
function bringIn(next: Autosave, from: string | null, stored: Stored, effects: Effect[], isRefused = false): void {
  const { text, regions } = mergeLines({ base: from ?? undefined, mine: next.text, theirs: stored.text })
  if (isRefused || regions.length > 0) next.conflict = stored
  else next.base = stored
  if (text === next.text) return
  next.text = text
  effects.push({ do: 'show', stored: { ...stored, text }, isTheirs: true })
}

function resolve(next: Autosave, text: string, effects: Effect[]): void {
  if (!next.conflict) return
  next.base = next.conflict
  next.conflict = null
  next.text = text
  next.due = true
  next.epoch++
  effects.push({ do: 'show', stored: { ...next.base, text }, isTheirs: false })
}

/** The text is saved on the base that it was written on, so that the server merges it or detects a conflict. */
function restore(next: Autosave, { text, baseHash, base, unsure }: LeftText, effects: Effect[]): void {
  if (isUnsaved(next) || next.conflict || next.reading || text === next.text) return
  if (baseHash !== next.base.contentHash) next.base = { text: base ?? null, contentHash: baseHash }
  next.unsure = unsure ? { ...unsure, mayBeStored: true } : null
  next.text = text
  next.due = true
  next.epoch++
  effects.push({ do: 'show', stored: { text, contentHash: baseHash }, isTheirs: false })
}

/** Adds the effects that follow from the state alone. */
function settle(next: Autosave, effects: Effect[]): void {
  const unsaved = isUnsaved(next)
  if (unsaved || next.conflict) {
    if (next.text !== next.base.text || next.unsure) {
      next.kept = true
      effects.push({ do: 'keep' })
    }
  } else {
    next.due = false
    if (next.waiting === 'quiet') stopWaiting(next, effects)
    if (next.kept) {
      next.kept = false
      effects.push({ do: 'forget' })
    }
    return
  }
  const held = next.sending || next.reading || next.conflict || next.waiting === 'retry'
  if (held || next.problem?.kind === 'signed-out' || next.problem?.kind === 'refused') return
  if (next.place === 'live') {
    next.place = 'moving'
    effects.push({ do: 'find-draft' })
  } else if (next.place === 'draft' && next.due) send(next, effects)
}

function send(next: Autosave, effects: Effect[]): void {
  const save = next.unsure ?? { key: nextKey(next), text: next.text }
  stopWaiting(next, effects)
  next.sending = save
  next.unsure = null
  // After a repeated request the newer text follows at once.
  next.due = save.text !== next.text
  next.epoch++
  effects.push({ do: 'send', save, base: next.base })
}

function nextKey(next: Autosave): string {
  return `${next.id}-${++next.saves}`
}

function stopWaiting(next: Autosave, effects: Effect[]): void {
  if (!next.waiting) return
  next.waiting = null
  effects.push({ do: 'stop-waiting' })
}
