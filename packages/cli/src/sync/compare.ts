import type { Change } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import type { LockEntry } from '../settings/lock-file.ts'

/** One prompt's hashes on the three sides. A hash is undefined where the prompt does not exist. */
export interface Sides {
  /** The hash after the last pull or push. */
  base: string | undefined
  /** All accepted hashes of the local file, as in `HashedText.hashes`. */
  local: ReadonlySet<string> | undefined
  remote: string | undefined
}

export type State =
  | 'same'
  | 'local-edit'
  | 'remote-edit'
  | 'same-edit'
  | 'conflict'
  | 'local-new'
  | 'remote-new'
  | 'same-new'
  | 'both-new'
  | 'local-delete'
  | 'remote-delete'
  | 'edit-against-delete'
  | 'delete-against-edit'
  | 'both-deleted'

export const conflictStates: ReadonlySet<string> = new Set<State>([
  'conflict',
  'both-new',
  'edit-against-delete',
  'delete-against-edit',
])

/** In these states, the file and the server agree. */
const inStep: ReadonlySet<State> = new Set<State>(['same', 'same-edit', 'same-new', 'both-deleted'])

/**
 * Returns the hash of the text that a file continues. A file that has its text from before the last merge again lacks
 * the server's lines, so it continues the earlier base: with the new one, the next push would revert these lines.
 */
export function baseOf(entry: LockEntry | undefined, local: ReadonlySet<string> | undefined): string | undefined {
  const { hash, mine, base } = entry ?? {}
  if (mine === undefined || local === undefined) return hash
  return local.has(mine) || (base !== undefined && local.has(base)) ? base : hash
}

/**
 * Returns the hash of live's text that was merged into a draft's file. A file that has its text from before the merge
 * again lacks live's lines, so the merge does not count.
 */
export function mergedLiveOf(entry: LockEntry | undefined, local: ReadonlySet<string> | undefined): string | undefined {
  return entry?.mine !== undefined && local?.has(entry.mine) ? undefined : entry?.merged
}

/** Status, pull, push and publish share this decision. Returns undefined if the prompt exists nowhere. */
export function compare({ base, local, remote }: Sides): State | undefined {
  if (base === undefined) return compareNew(local, remote)
  if (local === undefined) {
    if (remote === undefined) return 'both-deleted'
    return remote === base ? 'local-delete' : 'delete-against-edit'
  }
  const isEdited = !local.has(base)
  if (remote === undefined) return isEdited ? 'edit-against-delete' : 'remote-delete'
  if (remote === base) return isEdited ? 'local-edit' : 'same'
  if (!isEdited) return 'remote-edit'
  return local.has(remote) ? 'same-edit' : 'conflict'
}

function compareNew(local: ReadonlySet<string> | undefined, remote: string | undefined): State | undefined {
  if (local === undefined) return remote === undefined ? undefined : 'remote-new'
  if (remote === undefined) return 'local-new'
  return local.has(remote) ? 'same-new' : 'both-new'
}

/** A prompt whose path changed since the last pull or push: as a file, or on the server. */
export interface Move {
  /** The path in the lock. */
  from: string
  by: 'file' | 'server'
}

export interface Compared {
  /** The new one, if the prompt moved. */
  path: string
  move?: Move | undefined
  state: State
  /** The hash of the text that the file continues. */
  baseHash: string | undefined
  /** The file on disk. The Unicode form of its name may differ from the path's form. */
  localFile: string | undefined
  localText: string | undefined
  localHash: string | undefined
  remoteText: string | undefined
  remoteHash: string | undefined
  documentUuid: string | undefined
  /** The prompt's path in live, if the draft moves it. */
  livePath: string | undefined
  remoteUpdatedAt: string | undefined
  /** True if the file contains conflict markers that the server's text lacks. */
  hasMarkers: boolean
  /** True if `pull` merged another text into the file, which was not pushed since. */
  isMerged: boolean
  /** The hash of the live text merged into the file. Set if a push must send it. */
  mergedLive: string | undefined
}

export interface PushPlan {
  changes: Change[]
  deletions: Change[]
  conflicts: Compared[]
  /** Prompts that changed only on the server. A push does not touch these prompts. */
  remoteOnly: Compared[]
}

/**
 * `refuse` stops at prompts that both sides changed. `merge` leaves them to the server, which needs the file's base.
 * `force` overwrites the conflicts that the user has seen. The base hashes stay, so that a change that arrives in the
 * meantime still stops the push.
 */
export type PushManner = 'refuse' | 'merge' | 'force'

export function planPush(compared: readonly Compared[], manner: PushManner): PushPlan {
  const plan: PushPlan = { changes: [], deletions: [], conflicts: [], remoteOnly: [] }
  for (const one of compared) {
    const isConflict = isUnsettled(one)
    const isOnServer = one.move?.by === 'server'
    if (isOnServer && (isConflict || one.state === 'local-edit')) plan.conflicts.push(one)
    else if (isOnServer) plan.remoteOnly.push(one)
    else if (manner === 'merge' && one.state === 'conflict' && !one.hasMarkers) sendTo(plan, one, one.baseHash)
    else if (isConflict && manner !== 'force') plan.conflicts.push(one)
    else if (one.move || isSent(one.state, isConflict) || isMergeToSend(one)) sendTo(plan, one)
    else if (['remote-edit', 'remote-new', 'remote-delete'].includes(one.state)) plan.remoteOnly.push(one)
  }
  // The new prompt at a path that another one leaves.
  const left = new Map(compared.flatMap(({ move, remoteHash }) => (move ? [[move.from, remoteHash]] : [])))
  return {
    ...plan,
    changes: plan.changes.map((change) =>
      change.baseHash ? change : { ...change, baseHash: left.get(change.path) ?? '' },
    ),
  }
}

/** Returns whether the file and the server agree, also on the path. */
export function isInStep({ state, move }: Compared): boolean {
  return inStep.has(state) && !move
}

/** The path at which the lock has the prompt. */
export function lockPathOf({ path, move }: Pick<Compared, 'path' | 'move'>): string {
  return move?.from ?? path
}

/** Describes the state to users. */
export function shownState({ state, move, hasMarkers }: Compared): State | 'local-move' | 'remote-move' {
  if (hasMarkers) return 'conflict'
  if (!move || conflictStates.has(state)) return state
  return move.by === 'file' ? 'local-move' : 'remote-move'
}

/** Returns whether the prompt has a conflict that the user must resolve. */
export function isUnsettled({ state, hasMarkers }: Compared): boolean {
  return conflictStates.has(state) || hasMarkers
}

// A merge is sent even if the text equals the draft's text, because live's hash resolves the publish conflict.
function isMergeToSend({ mergedLive, state }: Compared): boolean {
  return mergedLive !== undefined && inStep.has(state)
}

function isSent(state: State, isConflict: boolean): boolean {
  return isConflict || state === 'local-edit' || state === 'local-new' || state === 'local-delete'
}

function sendTo(plan: PushPlan, one: Compared, baseHash = one.remoteHash ?? ''): void {
  const base = defined({ baseHash, liveHash: one.mergedLive })
  if (one.localText === undefined) {
    if (one.remoteHash !== undefined || one.mergedLive !== undefined)
      plan.deletions.push({ path: one.path, status: 'deleted', ...base })
    return
  }
  const { path, move, state } = one
  // Live's text was merged into a moved prompt: the move is sent again.
  const from = move?.from ?? (one.mergedLive === undefined ? undefined : one.livePath)
  const status = from !== undefined ? 'moved' : one.remoteHash === undefined ? 'added' : 'modified'
  const isSameText = move && !one.hasMarkers && ['same', 'same-edit', 'remote-edit'].includes(state)
  const content = isSameText ? {} : { content: one.localText }
  plan.changes.push({ path, ...(from !== undefined && { from }), status, ...content, ...base })
}

export type Preference = 'ours' | 'theirs' | undefined

export type PullAction =
  | 'write'
  | 'keep'
  | 'lock-only'
  | 'merge'
  | 'delete'
  | 'settle'
  | 'restore'
  | 'unresolved'
  | 'keep-deleted'
  | 'none'

/**
 * Plans a pull of one prompt. `delete` still needs confirmation or a flag. `settle` keeps the file and makes the
 * server's text the new base, so that the next push sends the file's text; `restore` does the same with the file's text
 * before the last merge. `unresolved` keeps a conflict that only the user can resolve.
 */
export function planPull(one: Compared, preference: Preference, isNamed: boolean): PullAction {
  if (one.hasMarkers && !one.state.startsWith('remote-')) return planMarkers(one, preference)
  switch (one.state) {
    case 'same':
      return 'none'
    case 'remote-edit':
    case 'remote-new':
    case 'delete-against-edit':
      return one.state === 'delete-against-edit' && preference === 'ours' ? 'settle' : 'write'
    case 'same-edit':
    case 'same-new':
    case 'both-deleted':
      return 'lock-only'
    case 'conflict':
    case 'both-new':
      if (preference === 'theirs') return 'write'
      return preference === 'ours' ? 'settle' : 'merge'
    case 'local-delete':
      return isNamed || preference === 'theirs' ? 'write' : 'keep-deleted'
    case 'remote-delete':
      return preference === 'ours' ? 'settle' : 'delete'
    case 'edit-against-delete':
      if (preference === 'theirs') return 'delete'
      return preference === 'ours' ? 'settle' : 'unresolved'
    case 'local-edit':
    case 'local-new':
      return preference === 'theirs' && one.state === 'local-edit' && isNamed ? 'write' : 'keep'
  }
}

function planMarkers({ isMerged, mergedLive, remoteHash }: Compared, preference: Preference): PullAction {
  if (preference === undefined) return 'unresolved'
  // `mergeLive` settles a merge with live.
  if (mergedLive !== undefined) return 'keep'
  if (preference === 'theirs') return remoteHash === undefined ? 'delete' : 'write'
  return isMerged ? 'restore' : 'unresolved'
}
