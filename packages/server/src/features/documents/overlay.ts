/** The rules of a draft over live: what shows, what a change is and starts from, and when two changes collide. */
import type { DocumentText } from './document.ts'
import type { DraftWrite, MergedReplacement, MergedText, MergedWrite, Slot } from './ports.ts'

/** The end of a row that is part of the live set: later than any publication. */
export const openEnd = 2_147_483_647

/** What the draft shows at the path; null when there is no document. */
export function shownIn(slot: Slot): DocumentText | null {
  if (slot.draft === null) return slot.live
  return slot.draft.deletedAt === null ? slot.draft : null
}

/** Whether publishing the slot would change what live says. */
export function isChange(slot: Slot): boolean {
  return slot.draft !== null && shownIn(slot)?.contentHash !== slot.live?.contentHash
}

/** Whether live changed the path since the draft took it up, and not to the same text. */
export function isConflict(slot: Slot): boolean {
  return slot.draft !== null && isChange(slot) && slot.draft.baseHash !== (slot.live?.contentHash ?? null)
}

export interface NewText {
  path: string
  content: string
  contentHash: string
  /** Of the document, if this is its first text. */
  documentUuid: string
  at: Date
}

/** The draft's row after writing a text at the slot; null when the text is what shows there already. */
export function writeText(slot: Slot, text: NewText): DraftWrite | null {
  const shown = shownIn(slot)
  if (shown?.contentHash === text.contentHash) return null
  const known = slot.draft ?? slot.live
  return {
    path: text.path,
    documentUuid: known?.documentUuid ?? text.documentUuid,
    content: text.content,
    contentHash: text.contentHash,
    baseHash: baseOf(slot),
    deletedAt: null,
    createdAt: known?.createdAt ?? text.at,
    updatedAt: text.at,
  }
}

/** The draft's row after deleting the slot's document: its last text is kept. Null when nothing shows there. */
export function deleteText(slot: Slot, at: Date): DraftWrite | null {
  const shown = shownIn(slot)
  if (shown === null) return null
  const { path, documentUuid, content, contentHash, createdAt } = shown
  return { path, documentUuid, content, contentHash, baseHash: baseOf(slot), deletedAt: at, createdAt, updatedAt: at }
}

// Recorded once: later changes of the same path in the draft start from the same base.
function baseOf(slot: Slot): string | null {
  return slot.draft ? slot.draft.baseHash : (slot.live?.contentHash ?? null)
}

/**
 * The rows after an edit of exactly the merged set `version.number`: the edited piece first, then the old text for
 * later sets. An edit of the live set stays open, so that it goes on until the next publication of the path.
 */
export function editMerged(
  old: MergedText | null,
  version: { id: number; number: number; isLive: boolean },
  text: NewText,
): MergedReplacement {
  const end = version.isLive ? openEnd : version.number + 1
  const edited: MergedWrite = {
    path: text.path,
    documentUuid: old?.documentUuid ?? text.documentUuid,
    versionId: version.id,
    content: text.content,
    contentHash: text.contentHash,
    validFrom: version.number,
    validTo: end,
    createdAt: old?.createdAt ?? text.at,
    updatedAt: text.at,
  }
  if (old === null) return { old: null, pieces: [edited] }
  const { id, projectId: _projectId, mergedAt: _mergedAt, ...rest } = old
  const tail = old.validTo > end ? [{ ...rest, validFrom: end }] : []
  return { old: { id, end: old.validFrom < version.number ? version.number : null }, pieces: [edited, ...tail] }
}
