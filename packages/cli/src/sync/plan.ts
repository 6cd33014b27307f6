import type { Change } from '@stet/sdk'
import { conflictStates, inStep, type State } from './compare.ts'

/** One prompt on its way between the sides. */
export interface Compared {
  path: string
  state: State
  /** The file as it is named on the disk, which may be in another Unicode form than the path. */
  localFile: string | undefined
  /** What would be sent. */
  localText: string | undefined
  localHash: string | undefined
  remoteText: string | undefined
  remoteHash: string | undefined
  documentUuid: string | undefined
  /** When the server's side was last written. */
  remoteUpdatedAt: string | undefined
  /** A `.remote` file of an unsettled conflict lies beside it. */
  hasLeftover: boolean
  /** The file holds the markers of a merge that is not settled, and the server's text does not. */
  hasMarkers: boolean
  /** The hash of live's text that the file was merged with, when a push has to send it. */
  mergedLive: string | undefined
}

/** What a push sends, and what it leaves alone. */
export interface PushPlan {
  changes: Change[]
  deletions: Change[]
  conflicts: Compared[]
  /** Changed on the server only: not touched by a push. */
  remoteOnly: Compared[]
}

/** Decides a push. `isForced` drops the base hashes and overwrites conflicts. */
export function planPush(compared: readonly Compared[], isForced: boolean): PushPlan {
  const plan: PushPlan = { changes: [], deletions: [], conflicts: [], remoteOnly: [] }
  for (const one of compared) {
    const isConflict = isUnsettled(one)
    if (isConflict && !isForced) plan.conflicts.push(one)
    else if (isSent(one.state, isConflict) || isMergeToSend(one)) sendTo(plan, one, isForced)
    else if (['remote-edit', 'remote-new', 'remote-delete'].includes(one.state)) plan.remoteOnly.push(one)
  }
  return plan
}

/** Whether a prompt has a conflict that only a human can settle. */
export function isUnsettled({ state, hasLeftover, hasMarkers }: Compared): boolean {
  return conflictStates.has(state) || hasLeftover || hasMarkers
}

// Text that equals the draft's is sent too: live's hash alone resolves the conflict of a publication.
function isMergeToSend({ mergedLive, state }: Compared): boolean {
  return mergedLive !== undefined && inStep.has(state)
}

function isSent(state: State, isConflict: boolean): boolean {
  return isConflict || state === 'local-edit' || state === 'local-new' || state === 'local-delete'
}

function sendTo(plan: PushPlan, one: Compared, isForced: boolean): void {
  const base = {
    ...(!isForced && { baseHash: one.remoteHash ?? '' }),
    ...(one.mergedLive !== undefined && { liveHash: one.mergedLive }),
  }
  if (one.localText === undefined) {
    if (one.remoteHash !== undefined || one.mergedLive !== undefined)
      plan.deletions.push({ path: one.path, status: 'deleted', ...base })
    return
  }
  const status = one.remoteHash === undefined ? 'added' : 'modified'
  plan.changes.push({ path: one.path, status, content: one.localText, ...base })
}

/** How a pull settles conflicts. */
export type Preference = 'ours' | 'theirs' | undefined

/** What a pull does with one prompt. */
export type PullAction = 'write' | 'keep' | 'lock-only' | 'write-beside' | 'delete' | 'settle' | 'keep-deleted' | 'none'

/**
 * Decides a pull for one prompt. `delete` is a wish: the caller asks or needs a flag; `settle` takes the server's text as
 * the new base and leaves the file, so that the next push sends it.
 */
export function planPull(one: Compared, preference: Preference, isNamed: boolean): PullAction {
  switch (one.state) {
    case 'same':
      return one.hasLeftover ? 'keep' : 'none'
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
      return preference === 'ours' ? 'settle' : 'write-beside'
    case 'local-delete':
      return isNamed || preference === 'theirs' ? 'write' : 'keep-deleted'
    case 'remote-delete':
      return preference === 'ours' ? 'settle' : 'delete'
    case 'edit-against-delete':
      if (preference === 'theirs') return 'delete'
      return preference === 'ours' ? 'settle' : 'keep'
    case 'local-edit':
    case 'local-new':
      return preference === 'theirs' && one.state === 'local-edit' && isNamed ? 'write' : 'keep'
  }
}
