import type { Version, VersionDiff } from '@stet/sdk'
import type { LockEntry } from '../../settings/lock-file.ts'
import { entryOf, fileOf, problemOfFile, problemOfWrite, replaceText } from '../apply.ts'
import type { Compared, Preference } from '../compare.ts'
import { hashText } from '../hash.ts'
import { compareWith, type Workspace } from '../workspace.ts'
import { type Merger, mergePrompt } from './merge-prompt.ts'

/** The draft and live both changed this prompt, which blocks publishing. */
export interface LiveConflict {
  path: string
  livePath: string
  /** True if the draft moved a prompt to a path at which live has another one. */
  isOther: boolean
  draftText: string | undefined
  liveText: string | undefined
  /** Empty if live has no such prompt. */
  liveHash: string
  /** True if live's current text was already merged and the merge waits for a push. */
  isMerged: boolean
}

/** For `merge-blocked`, `reason` explains why the merge cannot proceed and, where possible, names the next step. */
export type MergeOutcome =
  | { action: 'merge' | 'merge-conflict' | 'merge-ours' | 'merge-theirs' | 'merge-restore'; path: string }
  | { action: 'merge-blocked'; path: string; reason: string }

type DraftChanges = VersionDiff['changes']

/** Lists what the draft changes in live. */
export async function listDraftChanges({ client, version }: Workspace): Promise<DraftChanges> {
  if (version.status !== 'draft' || version.deletedAt) return []
  return (await client.versions.diff(version.uuid)).changes
}

/**
 * Notes in `entries` the text of live that each change of the draft builds on. In a conflict, live has another text. An
 * earlier note then counts only for the draft's text of that time, because a colleague may have merged live since.
 */
export function noteLive(
  entries: Record<string, LockEntry>,
  changes: DraftChanges,
  former: Readonly<Record<string, LockEntry>>,
): void {
  for (const { path, before, after, conflict, movedFrom } of changes) {
    const known = entries[path]
    if (!known || known.hash !== after?.contentHash) continue
    const entry = { ...known, ...(movedFrom && { movedFrom: movedFrom.path }) }
    entries[path] = entry
    // A prompt that moved has the text before the move as its base.
    const base = (movedFrom ? (movedFrom.contentHash ?? after?.contentHash) : before?.contentHash) ?? ''
    if (!conflict) entry.live = base
    else if (entry.hash !== former[path]?.hash) delete entry.live
  }
}

/** Finds the conflicts that publishing the draft would cause. */
export function findLiveConflicts(changes: DraftChanges, { compared }: Workspace): LiveConflict[] {
  const changeAt = new Map(changes.map((change) => [change.path, change]))
  return changes.flatMap(({ path: livePath, before, conflict, movedFrom, movedTo }) => {
    // If live still has a moved prompt, its change is at the old path.
    const isListed = movedFrom && before === null && changeAt.get(movedFrom.path)?.movedTo === livePath
    if (!conflict || isListed) return []
    const path = movedTo ?? livePath
    const { content: liveText, contentHash: liveHash = '' } = before ?? {}
    const isMerged = compared.find((one) => one.path === path)?.mergedLive === liveHash
    const isOther = movedFrom !== undefined && movedTo === undefined && before !== null
    const draftText = changeAt.get(path)?.after?.content
    return [{ path, livePath, isOther, draftText, liveText, liveHash, isMerged }]
  })
}

/**
 * Merges live's new texts into a draft's files and records each merge in `entries`. A dry run only returns the
 * outcomes.
 */
export async function mergeLive(
  workspace: Workspace,
  conflicts: readonly LiveConflict[],
  entries: Record<string, LockEntry>,
  options: { preference?: Preference; isDry: boolean },
  merger: Merger,
): Promise<MergeOutcome[]> {
  const outcomes: MergeOutcome[] = []
  for (const conflict of conflicts) {
    const one = workspace.compared.find(({ path }) => path === conflict.path)
    const entry = entries[conflict.path]
    const decided = await decide(conflict, one, entry, options.preference, merger)
    const place = one ?? { path: conflict.path, localFile: undefined }
    const problem = decided.isWritten && (await problemOfWrite(workspace.promptsDir, place))
    if (problem) {
      outcomes.push(blocked(conflict.path, `its file cannot be written: it ${problem}`))
      continue
    }
    outcomes.push(decided.outcome)
    if (options.isDry || decided.outcome.action === 'merge-blocked') continue
    if (decided.isWritten) await replaceText(fileOf(workspace.promptsDir, place), decided.text)
    entries[conflict.path] = entryAfter(decided, conflict, entry)
  }
  return outcomes
}

// Notes the draft's text, unless it is also the result.
function entryAfter(
  { text }: Decision,
  { draftText, liveHash }: LiveConflict,
  entry: LockEntry | undefined,
): LockEntry {
  const { mine, base, ...kept } = entry ?? {}
  if (text === draftText || draftText === undefined) return { ...kept, merged: liveHash }
  const earlier = mine === undefined ? kept.hash : base
  const former = earlier === undefined ? {} : { base: earlier }
  return { ...kept, mine: mine ?? hashText(draftText), ...former, merged: liveHash }
}

const blocked = (path: string, reason: string): MergeOutcome => ({ action: 'merge-blocked', path, reason })

/** If `isWritten`, the file gets `text`, or is deleted if `text` is undefined. */
interface Decision {
  outcome: MergeOutcome
  isWritten: boolean
  text?: string | undefined
}

async function decide(
  { path, livePath, isOther, draftText, liveText, liveHash }: LiveConflict,
  one: Compared | undefined,
  entry: LockEntry | undefined,
  preference: Preference,
  merger: Merger,
): Promise<Decision> {
  // Without a local change, uses the draft's text: the file may be older, or missing in a folder that newly follows the
  // draft.
  const mine = one?.state.startsWith('local-') ? one.localText : draftText
  const undecided = (reason: string): Decision => ({ outcome: blocked(path, reason), isWritten: false })
  if (isOther) return undecided('live has another prompt at this path: stet mv moves this one away')
  if (preference === 'theirs') return { outcome: { action: 'merge-theirs', path }, isWritten: true, text: liveText }
  if (preference === 'ours') {
    // A file with the markers of a merge with live is not a version of the prompt, so "ours" restores the draft's text.
    const isWritten = one?.hasMarkers === true && one.mergedLive !== undefined
    return { outcome: { action: 'merge-ours', path }, isWritten, text: draftText }
  }
  if (one?.state.startsWith('local-') && one.mergedLive === undefined) {
    return undecided('live changed it too: run stet push, then stet pull to merge both')
  }
  if (liveText === undefined) {
    return undecided(`live deleted it: stet pull ${path} --ours keeps the prompt, --theirs deletes it`)
  }
  if (mine === undefined) return { outcome: { action: 'merge-restore', path }, isWritten: true, text: liveText }
  const hash = one?.mergedLive ?? entry?.live
  const { texts } = merger
  const base = await (hash === undefined ? texts.findOnlyBase(livePath, liveHash) : texts.find(livePath, hash))
  const names = { mine: 'draft', theirs: 'live' }
  const { text, regions } = await mergePrompt(merger, path, { base, mine, theirs: liveText, names })
  return { outcome: { action: regions.length === 0 ? 'merge' : 'merge-conflict', path }, isWritten: true, text }
}

/**
 * Undoes merges that were not pushed. A file that was merged with live gets the draft's text, and live's text counts as
 * not merged. Any other file gets its text before the merge.
 * @returns the paths whose text before the merge was not found
 */
export async function abortMerges(
  { compared, promptsDir }: Workspace,
  paths: ReadonlySet<string>,
  entries: Record<string, LockEntry>,
  { texts }: Merger,
): Promise<string[]> {
  const lost: string[] = []
  for (const one of compared) {
    if (!paths.has(one.path)) continue
    const { merged, mine, base, ...entry } = entries[one.path] ?? {}
    const isLive = merged !== undefined
    const text = isLive || mine === undefined ? one.remoteText : await texts.find(one.path, mine)
    if (text === undefined && !isLive) {
      lost.push(one.path)
      continue
    }
    if ((await problemOfFile(promptsDir, one)) === undefined) await replaceText(fileOf(promptsDir, one), text)
    if ((isLive ? one.remoteHash : base) === undefined) delete entries[one.path]
    else entries[one.path] = { ...entry, ...(!isLive && base !== undefined && { hash: base }) }
  }
  return lost
}

/**
 * Rebases a folder that follows an open draft onto live, for a new draft. Live never contained the open draft's changes,
 * so the base is live's text. If live has changed that text since, the result is a conflict.
 */
export async function rebaseOnLive(overLive: Workspace, open: Version): Promise<Workspace> {
  const { changes } = await overLive.client.versions.diff(open.uuid)
  const entries: Record<string, LockEntry> = { ...overLive.entries }
  for (const { path, documentUuid, before, after, conflict, movedTo } of changes) {
    // Keeps the older base if this folder has not pulled a colleague's change to the draft.
    if (entries[path]?.hash !== after?.contentHash) continue
    if (before === null || conflict) delete entries[path]
    else entries[path] = { ...entryOf(before.contentHash, documentUuid), ...(movedTo && { movedTo }) }
  }
  return compareWith(entries, overLive)
}
