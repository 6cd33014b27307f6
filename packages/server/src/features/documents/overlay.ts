import { randomUUID } from 'node:crypto'
import type { TreeItem } from '@stet/contract/vocabulary'
import type { Author } from '../../shared/caller.ts'
import type { DocumentText } from './document.ts'
import type { DraftWrite, MergedReplacement, MergedText, PlannedSlot, SlotOf } from './ports.ts'
import type { ActualHashes } from './preconditions.ts'

/** The `validTo` of the rows of the highest number. This value is greater than any version number. */
export const openEnd = 2_147_483_647

/** Returns the text that the draft shows at the path. Returns null if there is no document. */
export function shownIn<Draft extends { deletedAt: Date | null }, Live>(slot: {
  draft: Draft | null
  live: Live | null
}): Draft | Live | null {
  if (slot.draft === null) return slot.live
  return slot.draft.deletedAt === null ? slot.draft : null
}

/** Returns the path in live of the prompt that the draft shows in the slot. Null if only the draft has the prompt. */
export function originOf({ path, draft, live, movedTo }: SlotOf<unknown>): string | null {
  if (draft === null) return live === null ? null : path
  if (draft.movedFrom !== null) return draft.movedFrom
  return movedTo === null && draft.baseHash !== null ? path : null
}

/** Sets `movedTo` in slots that include all rows of the draft. */
export function withMoves<Text extends Pick<DocumentText, 'contentHash'>>(
  slots: readonly Omit<SlotOf<Text>, 'movedTo'>[],
): SlotOf<Text>[] {
  const moved = new Map<string, SlotOf<Text>['movedTo']>()
  for (const { path, draft } of slots) {
    if (draft?.deletedAt === null && draft.movedFrom !== null) {
      moved.set(draft.movedFrom, { path, contentHash: draft.contentHash })
    }
  }
  return slots.map((slot) => ({ ...slot, movedTo: moved.get(slot.path) ?? null }))
}

/** Moves as diff and tree show them, with the hash of a moved text if the draft changed it too. */
export type Moves = Pick<TreeItem, 'movedFrom' | 'movedTo'>

/** Describes the moves of a draft against live, by path. @param slots include all rows of the draft. */
export function movesIn(slots: readonly SlotOf<Pick<DocumentText, 'contentHash'>>[]): Map<string, Moves> {
  const slotAt = new Map(slots.map((slot) => [slot.path, slot]))
  const moves = new Map<string, Moves>()
  for (const { path, draft, live, movedTo } of slots) {
    const origin = draft?.deletedAt === null && draft.movedFrom !== null ? slotAt.get(draft.movedFrom) : undefined
    const before = origin && (origin.live?.contentHash ?? origin.draft?.baseHash)
    const contentHash = before && before !== draft?.contentHash ? { contentHash: before } : {}
    moves.set(path, {
      ...(origin && { movedFrom: { path: origin.path, ...contentHash } }),
      ...(live && movedTo && { movedTo: movedTo.path }),
    })
  }
  return moves
}

export function hashesOf(slot: PlannedSlot): ActualHashes {
  return { shown: shownIn(slot)?.contentHash ?? null, live: slot.live?.contentHash ?? null }
}

/** True if publishing the slot would change live: its text, or which prompt has the path. */
export function isChange(slot: SlotOf<Pick<DocumentText, 'contentHash'>>): boolean {
  const { draft, live, movedTo } = slot
  if (draft === null) return false
  if (shownIn(slot)?.contentHash !== live?.contentHash) return true
  return live !== null && (draft.movedFrom !== null || movedTo !== null)
}

/** True at the old path of a prompt that the draft moves. The move counts once, at the new path. */
export function isVacated(slot: SlotOf<unknown>): boolean {
  return slot.movedTo !== null && shownIn(slot) === null
}

/**
 * True if publishing the slot would overwrite a change that live got after the draft's base. If the draft moves live's
 * prompt away, its text there replaces live's.
 */
export function isConflict(slot: SlotOf<Pick<DocumentText, 'contentHash'>>): boolean {
  const { draft, live, movedTo } = slot
  if (draft === null || draft.baseHash === (live?.contentHash ?? null)) return false
  return movedTo === null ? isChange(slot) : movedTo.contentHash !== live?.contentHash
}

/** When a text is written or deleted, and by whom. */
export interface Revision {
  at: Date
  by: Author
}

export type NewText = Pick<DocumentText, 'path' | 'content' | 'contentHash' | 'documentUuid'> & Revision

/**
 * Computes the draft's row after a write. Returns null if the row stays unchanged.
 * @param isMerged The text was merged with live's current text, which becomes the base.
 */
export function writeText(slot: PlannedSlot, text: NewText, isMerged = false): DraftWrite | null {
  const baseHash = baseOf(slot, isMerged)
  const shown = shownIn(slot)
  if (shown?.contentHash === text.contentHash) return withBase(slot, baseHash)
  // A deleted prompt returns with its uuid and its move. If the draft shows it at another path, this is a new one.
  const isNew = shown === null && (slot.isElsewhere ?? slot.movedTo !== null)
  const known = isNew ? null : (slot.draft ?? slot.live)
  const movedFrom = isNew ? null : (slot.draft?.movedFrom ?? null)
  return { ...rewritten(known, text), updatedBy: text.by, baseHash, deletedAt: null, movedFrom }
}

/**
 * Computes the draft's row after a deletion. Returns null if the row stays unchanged. The row keeps the last text, the
 * uuid and the move, so that the prompt can return.
 */
export function deleteText(slot: PlannedSlot, revision: Revision, isMerged = false): DraftWrite | null {
  // Keeps the base if live has no text. Without a base, a revert would treat the document as draft-only.
  const baseHash = baseOf(slot, isMerged && slot.live !== null)
  const shown = shownIn(slot)
  if (shown === null) return withBase(slot, baseHash)
  return deletedRow(shown, revision, { path: slot.path, baseHash, movedFrom: slot.draft?.movedFrom ?? null })
}

function deletedRow(
  { documentUuid, content, contentHash, createdAt }: Omit<MovedText, 'origin'>,
  { at, by }: Revision,
  state: Pick<DraftWrite, 'path' | 'baseHash' | 'movedFrom'>,
): DraftWrite {
  return { documentUuid, content, contentHash, createdAt, updatedAt: at, updatedBy: by, deletedAt: at, ...state }
}

/** A prompt on its way to another path. */
export interface MovedText extends Pick<DocumentText, 'documentUuid' | 'content' | 'contentHash' | 'createdAt'> {
  /** Its path in live. Null if only the draft has it. */
  origin: string | null
}

/**
 * Computes the draft's row at the path that a prompt leaves. Returns null if the draft needs no row there: what live has
 * at the path is not the prompt that leaves.
 * @param revision is null if the prompt has left before. Another one that is there now stays.
 */
export function vacate(slot: PlannedSlot, revision: Revision | null, isMerged = false): DraftWrite | null {
  const baseHash = baseOf(slot, isMerged)
  if (revision === null && slot.draft?.deletedAt === null) return { ...slot.draft, baseHash }
  // Live had nothing here when the draft's prompt came. A prompt that live has got since is another one and stays.
  const isAddition = slot.draft?.baseHash === null && slot.movedTo === null
  if (isAddition || (slot.live === null && baseHash === null)) return null
  const { path, draft, live } = slot
  const shown = shownIn(slot)
  if (revision === null || shown === null) return draft && { ...draft, baseHash }
  const isOwn = (draft?.movedFrom ?? null) === null && slot.movedTo === null
  // A prompt that came from elsewhere takes its uuid along. The row hides live's prompt, if there is one.
  const kept = isOwn ? shown : (live ?? { ...shown, documentUuid: randomUUID() })
  return deletedRow(kept, revision, { path, baseHash, movedFrom: null })
}

/**
 * Computes the draft's row at the path to which a prompt moves. Returns null if the draft needs no row there: the prompt
 * is back at its path in live, with live's text.
 */
export function moveText(
  slot: PlannedSlot,
  text: MovedText,
  { at, by }: Revision,
  isMerged = false,
): DraftWrite | null {
  const { origin, ...moved } = text
  const { path, live } = slot
  const baseHash = baseOf(slot, isMerged)
  const isBack = origin === path
  if (isBack && live?.contentHash === text.contentHash && live.contentHash === baseHash) return null
  const change = { baseHash, updatedAt: at, updatedBy: by, deletedAt: null, movedFrom: isBack ? null : origin }
  return { ...moved, path, ...change }
}

function rewritten(known: Pick<DocumentText, 'documentUuid' | 'createdAt'> | null, { at, by: _by, ...text }: NewText) {
  const { documentUuid, createdAt } = known ?? { ...text, createdAt: at }
  return { ...text, documentUuid, createdAt, updatedAt: at }
}

// The draft's first change of the path records the base. Only a merge with live replaces this base.
function baseOf({ draft, live }: PlannedSlot, isMerged: boolean): string | null {
  return draft === null || isMerged ? (live?.contentHash ?? null) : draft.baseHash
}

function withBase({ draft }: PlannedSlot, baseHash: string | null): DraftWrite | null {
  return draft === null || draft.baseHash === baseHash ? null : { ...draft, baseHash }
}

/**
 * Computes the rows after an edit of the merged set `version.number`. An edit of the highest number stays valid until the
 * path's next publication. An edit of an older set applies only to that set, and later sets keep the old text.
 */
export function editMerged(
  old: MergedText | null,
  version: { id: number; number: number; isHead: boolean },
  text: NewText,
): MergedReplacement {
  const end = version.isHead ? openEnd : version.number + 1
  const range = { versionId: version.id, validFrom: version.number, validTo: end }
  const edited = { ...rewritten(old, text), ...range, authorId: text.by.id }
  if (old === null) return { old: null, pieces: [edited] }
  const { id, projectId: _projectId, mergedAt: _mergedAt, ...rest } = old
  const tail = old.validTo > end ? [{ ...rest, validFrom: end }] : []
  return { old: { id, end: old.validFrom < version.number ? version.number : null }, pieces: [edited, ...tail] }
}
