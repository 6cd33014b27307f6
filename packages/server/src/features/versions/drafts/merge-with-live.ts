/** Merges the texts of a draft with newer ones of live, outside of the transaction that writes the results. */
import { randomUUID } from 'node:crypto'
import type { LiveConflict } from '@stet/contract/vocabulary'
import type { Caller } from '../../../shared/caller.ts'
import type { Needs } from '../../deps.ts'
import type { ProjectWriter } from '../../documents/change-project.ts'
import { hashContent, loadFromVersion, loadWith } from '../../documents/check-document.ts'
import type { DocumentText, TextHead } from '../../documents/document.ts'
import { describeConflict, textMerger } from '../../documents/merge/merge-text.ts'
import { isConflict, writeText } from '../../documents/overlay.ts'
import type { SlotOf } from '../../documents/ports.ts'
import type { Version } from '../../projects/project.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import type { PlannedDraft, WrittenText } from './compile-draft.ts'

type SlotHead = SlotOf<Pick<TextHead, 'contentHash' | 'documentUuid'>> & { path: string }

interface CleanMerge {
  text: WrittenText
  /** The hashes of the texts that were merged. */
  of: HashesOfConflict
}

export interface LiveMerges {
  clean: ReadonlyMap<string, CleanMerge>
  conflicts: ReadonlyMap<string, LiveConflict>
}

export const noMerges: LiveMerges = { clean: new Map(), conflicts: new Map() }

/** Merges each text of the draft that conflicts with live. */
export async function mergeWithLive(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  { set, slots, written }: PlannedDraft,
): Promise<LiveMerges> {
  const clean = new Map<string, CleanMerge>()
  const conflicts = new Map<string, LiveConflict>()
  const { workspaceId } = owner
  const load = loadWith(written, loadFromVersion(deps, workspaceId, set))
  const names = { mine: 'draft', theirs: 'live' }
  const merge = textMerger(deps, { owner, projectId: set.projectId, names, load })
  for (const slot of slots.filter(isConflict)) {
    const { path } = slot
    // Reads one text at a time, because all texts may not fit in memory.
    const [stored] = await deps.stores.documents.listSlots(workspaceId, set, [path])
    const mine = written.has(path) ? (written.get(path) ?? null) : draftText(stored)
    const hashes = hashesOfConflict(slot)
    // A text that has changed since the slots were read fails the comparison in `writeMerges`.
    const sides = {
      mine: mine?.content ?? null,
      theirs: stored?.live?.content ?? null,
      baseHash: hashes.baseHash ?? '',
    }
    const result = await merge({ path, ...sides })
    const { content, isClean } = result
    if (!isClean || content === null) conflicts.set(path, { ...hashes, ...describeConflict(result) })
    else {
      const { documentUuid } = hashes
      clean.set(path, { text: { path, documentUuid, content, contentHash: hashContent(content) }, of: hashes })
    }
  }
  return { clean, conflicts }
}

function draftText(slot: SlotOf<DocumentText> | undefined): DocumentText | null {
  return slot?.draft?.deletedAt === null ? slot.draft : null
}

/** Returns the draft as it will be after the merges. */
export function withMerges(planned: PlannedDraft, { clean }: LiveMerges): PlannedDraft {
  if (clean.size === 0) return planned
  const slots = planned.slots.map((slot) => {
    const contentHash = clean.get(slot.path)?.text.contentHash
    if (contentHash === undefined || !slot.draft) return slot
    return { ...slot, draft: { ...slot.draft, contentHash, baseHash: slot.live?.contentHash ?? null } }
  })
  const texts = [...clean].map(([path, { text }]): [string, WrittenText] => [path, text])
  return { ...planned, slots, written: new Map([...planned.written, ...texts]) }
}

/** Rolls back a transaction that would write or publish older texts than those that are there now. */
export class ChangedMeanwhile extends Error {}

/**
 * Writes the clean results. Each row keeps its author, because a merge changes no one's intent. Otherwise `replace`
 * would refuse to drop a change that its own author made.
 * @throws ChangedMeanwhile if one of the texts is no longer the one that was merged.
 */
export async function writeMerges(
  { stores: { documents }, at }: Pick<ProjectWriter, 'stores' | 'at'>,
  { workspaceId, author }: Caller,
  draft: Version,
  { clean }: LiveMerges,
): Promise<void> {
  if (clean.size === 0) return
  const slots = await documents.listSlots(workspaceId, draft, [...clean.keys()])
  const rows = slots.flatMap((slot) => {
    const merge = clean.get(slot.path)
    if (!merge || !isSame(hashesOfConflict(slot), merge.of)) throw new ChangedMeanwhile()
    const row = writeText(slot, { ...merge.text, documentUuid: randomUUID(), at, by: author }, true)
    return row ? { ...row, updatedBy: slot.draft?.updatedBy ?? author } : []
  })
  if (slots.length < clean.size) throw new ChangedMeanwhile()
  await documents.saveDraft(workspaceId, draft, rows)
}

function isSame(one: HashesOfConflict, other: HashesOfConflict): boolean {
  return one.baseHash === other.baseHash && one.liveHash === other.liveHash && one.draftHash === other.draftHash
}

type HashesOfConflict = ReturnType<typeof hashesOfConflict>

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
