/** Merges the texts of a draft with newer ones of live, outside of the transaction that writes the results. */
import { randomUUID } from 'node:crypto'
import type { LiveConflict } from '@stet/contract/vocabulary'
import type { Needs, Stores } from '../deps.ts'
import { hashContent, loadFromVersion, type SourceText } from '../documents/check-document.ts'
import type { TextHead } from '../documents/document.ts'
import { describeConflict, textMerger } from '../documents/merge/merge-text.ts'
import { isConflict, type Revision, writeText } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import type { Version } from '../projects/project.ts'
import type { EvaluationOwner } from '../templates/template-engine.ts'

type SlotHead = SlotOf<TextHead>

interface CleanMerge extends SourceText {
  /** The slot whose texts were merged. */
  of: SlotHead
}

export interface LiveMerges {
  clean: ReadonlyMap<string, CleanMerge>
  conflicts: readonly LiveConflict[]
}

export const noMerges: LiveMerges = { clean: new Map(), conflicts: [] }

/** @param slots those without a conflict are left out. */
export async function mergeWithLive(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  draft: Version,
  slots: readonly SlotHead[],
): Promise<LiveMerges> {
  const clean = new Map<string, CleanMerge>()
  const conflicts: LiveConflict[] = []
  const { workspaceId } = owner
  const { projectId } = draft
  const names = { mine: 'draft', theirs: 'live' }
  const load = loadFromVersion(deps, workspaceId, draft)
  const merge = textMerger(deps, { owner, projectId, names, load })
  for (const { path } of slots.filter(isConflict)) {
    // Reads one text at a time, because all texts may not fit in memory.
    const [slot] = await deps.stores.documents.listSlots(workspaceId, draft, [path])
    if (!slot?.draft) continue
    const mine = slot.draft.deletedAt === null ? slot.draft.content : null
    const theirs = slot.live?.content ?? null
    const result = await merge({ path, mine, theirs, baseHash: slot.draft.baseHash ?? '' })
    const { content, isClean } = result
    if (!isClean || content === null) conflicts.push({ ...hashesOfConflict(slot), ...describeConflict(result) })
    else clean.set(path, { path, content, contentHash: hashContent(content), of: slot })
  }
  return { clean, conflicts }
}

/** Returns the slot as it is after the merge. Returns it unchanged if its texts are not those that were merged. */
export function withMerge(slot: SlotHead, { clean }: LiveMerges): SlotHead {
  const merge = clean.get(slot.path)
  if (!merge || !slot.draft || !isSameSlot(slot, merge.of)) return slot
  return { ...slot, draft: { ...slot.draft, contentHash: merge.contentHash, baseHash: slot.live?.contentHash ?? null } }
}

function isSameSlot(one: SlotHead, other: SlotHead): boolean {
  return (
    one.draft?.contentHash === other.draft?.contentHash &&
    one.draft?.baseHash === other.draft?.baseHash &&
    one.draft?.deletedAt?.getTime() === other.draft?.deletedAt?.getTime() &&
    one.live?.contentHash === other.live?.contentHash
  )
}

/** Rolls back a transaction that would write or publish older texts than those that are there now. */
export class ChangedMeanwhile extends Error {}

/** Writes the clean results. @throws ChangedMeanwhile if one of the texts is no longer the one that was merged. */
export async function writeMerges(
  { documents }: Stores,
  workspaceId: number,
  draft: Version,
  { clean }: LiveMerges,
  revision: Revision,
): Promise<void> {
  if (clean.size === 0) return
  const slots = await documents.listSlots(workspaceId, draft, [...clean.keys()])
  const rows = slots.flatMap((slot) => {
    const merge = clean.get(slot.path)
    if (!merge || !isSameSlot(slot, merge.of)) throw new ChangedMeanwhile()
    const { path, content, contentHash } = merge
    return writeText(slot, { path, content, contentHash, documentUuid: randomUUID(), ...revision }, true) ?? []
  })
  if (slots.length < clean.size) throw new ChangedMeanwhile()
  await documents.saveDraft(workspaceId, draft, rows)
}

/** Describes how publishing the slot would conflict. */
export function hashesOfConflict({ path, draft, live }: SlotHead) {
  return {
    path,
    documentUuid: live?.documentUuid ?? draft?.documentUuid ?? '',
    baseHash: draft?.baseHash ?? null,
    liveHash: live?.contentHash ?? null,
    draftHash: draft && draft.deletedAt === null ? draft.contentHash : null,
  }
}
