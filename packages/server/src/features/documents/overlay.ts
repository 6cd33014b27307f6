import type { Author } from '../../shared/caller.ts'
import type { DocumentText } from './document.ts'
import type { DraftWrite, MergedReplacement, MergedText, Slot, SlotOf } from './ports.ts'
import type { ActualHashes } from './preconditions.ts'

/** The `validTo` of the rows of the highest number. This value is greater than any version number. */
export const openEnd = 2_147_483_647

/** Returns the text that the draft shows at the path. Returns null if there is no document. */
export function shownIn<Text>(slot: SlotOf<Text>): Text | null {
  if (slot.draft === null) return slot.live
  return slot.draft.deletedAt === null ? slot.draft : null
}

export function hashesOf(slot: Slot): ActualHashes {
  return { shown: shownIn(slot)?.contentHash ?? null, live: slot.live?.contentHash ?? null }
}

/** True if publishing the slot would change live. */
export function isChange(slot: SlotOf<Pick<DocumentText, 'contentHash'>>): boolean {
  return slot.draft !== null && shownIn(slot)?.contentHash !== slot.live?.contentHash
}

/** True if publishing the slot would overwrite a change that live got after the draft's base. */
export function isConflict(slot: SlotOf<Pick<DocumentText, 'contentHash'>>): boolean {
  return slot.draft !== null && isChange(slot) && slot.draft.baseHash !== (slot.live?.contentHash ?? null)
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
export function writeText(slot: Slot, text: NewText, isMerged = false): DraftWrite | null {
  const baseHash = baseOf(slot, isMerged)
  if (shownIn(slot)?.contentHash === text.contentHash) return withBase(slot, baseHash)
  const known = slot.draft ?? slot.live
  return { ...rewritten(known, text), updatedBy: text.by, baseHash, deletedAt: null }
}

/** Computes the draft's row after a deletion. The row keeps the last text. Returns null if the row stays unchanged. */
export function deleteText(slot: Slot, { at, by }: Revision, isMerged = false): DraftWrite | null {
  // Keeps the base if live has no text. Without a base, a revert would treat the document as draft-only.
  const baseHash = baseOf(slot, isMerged && slot.live !== null)
  const shown = shownIn(slot)
  if (shown === null) return withBase(slot, baseHash)
  const { path, documentUuid, content, contentHash, createdAt } = shown
  const change = { deletedAt: at, updatedAt: at, updatedBy: by }
  return { path, documentUuid, content, contentHash, baseHash, createdAt, ...change }
}

function rewritten(known: Pick<DocumentText, 'documentUuid' | 'createdAt'> | null, { at, by: _by, ...text }: NewText) {
  const { documentUuid, createdAt } = known ?? { ...text, createdAt: at }
  return { ...text, documentUuid, createdAt, updatedAt: at }
}

// The draft's first change of the path records the base. Only a merge with live replaces this base.
function baseOf({ draft, live }: Slot, isMerged: boolean): string | null {
  return draft === null || isMerged ? (live?.contentHash ?? null) : draft.baseHash
}

function withBase({ draft }: Slot, baseHash: string | null): DraftWrite | null {
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
