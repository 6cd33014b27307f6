/** Merges the texts of a draft with newer ones of live, outside of the transaction that writes the results. */
import type { LiveConflict } from '@stet/contract/vocabulary'
import type { Caller } from '../../../shared/caller.ts'
import type { Needs } from '../../deps.ts'
import type { ProjectWriter } from '../../documents/change-project.ts'
import { hashContent, loadFromVersion, loadWith } from '../../documents/check-document.ts'
import type { DocumentText, TextHead } from '../../documents/document.ts'
import { describeConflict, textMerger } from '../../documents/merge/merge-text.ts'
import { isConflict, withMoves } from '../../documents/overlay.ts'
import type { DraftWrite, SlotOf } from '../../documents/ports.ts'
import type { Version } from '../../projects/project.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import { ChangedMeanwhile, type PlannedDraft, type WrittenText } from './compile-draft.ts'

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
    const hashes = hashesOfConflict(slot)
    // A prompt that the draft moves is merged where the draft shows it.
    const path = hashes.movedTo ?? slot.path
    // Reads one text at a time, because all texts may not fit in memory.
    const stored = await deps.stores.documents.listSlots(workspaceId, set, [...new Set([slot.path, path])])
    const at = (wanted: string) => stored.find((each) => each.path === wanted)
    const mine = written.has(path) ? (written.get(path) ?? null) : draftText(at(path))
    // A text that has changed since the slots were read fails the comparison in `writeMerges`.
    const sides = {
      mine: mine?.content ?? null,
      theirs: at(slot.path)?.live?.content ?? null,
      baseHash: hashes.baseHash ?? '',
    }
    const result = await merge({ path, basePath: slot.path, ...sides })
    const { content, isClean } = result
    // The draft moved one prompt here and live has another one here, even if their texts are equal.
    const isOther = slot.movedTo === null && (slot.draft?.movedFrom ?? null) !== null
    if (!isClean || content === null || isOther) conflicts.set(slot.path, { ...hashes, ...describeConflict(result) })
    else {
      const { documentUuid } = hashes
      const text = { path, documentUuid, content, contentHash: hashContent(content) }
      clean.set(slot.path, { text, of: hashes })
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
  const texts = new Map([...clean.values()].map(({ text }): [string, WrittenText] => [text.path, text]))
  const slots = planned.slots.map((slot) => {
    const { path, draft, live } = slot
    const contentHash = texts.get(path)?.contentHash
    const merged = {
      ...(contentHash && { contentHash }),
      ...(clean.has(path) && { baseHash: live?.contentHash ?? null }),
    }
    return { ...slot, draft: draft && { ...draft, ...merged } }
  })
  return { ...planned, slots: withMoves(slots), written: new Map([...planned.written, ...texts]) }
}

/**
 * Writes the clean results. Each row keeps its author, because a merge does not change their intent. Otherwise
 * `replace` would refuse to drop a change that its own author made.
 * @throws ChangedMeanwhile if one of the texts is no longer the one that was merged.
 */
export async function writeMerges(
  { stores: { documents }, at }: Pick<ProjectWriter, 'stores' | 'at'>,
  { workspaceId }: Caller,
  draft: Version,
  { clean }: LiveMerges,
): Promise<void> {
  if (clean.size === 0) return
  const paths = [...clean].flatMap(([path, { text }]) => [path, text.path])
  const slots = await documents.listSlots(workspaceId, draft, [...new Set(paths)])
  const slotAt = new Map(slots.map((slot) => [slot.path, slot]))
  const rows = new Map<string, DraftWrite>()
  const change = (path: string, changed: Partial<DraftWrite>) => {
    const row = rows.get(path) ?? slotAt.get(path)?.draft
    if (!row) throw new ChangedMeanwhile()
    rows.set(path, { ...row, ...changed })
  }
  for (const [path, { text, of }] of clean) {
    const slot = slotAt.get(path)
    if (!slot || !isSame(hashesOfConflict(slot), of)) throw new ChangedMeanwhile()
    change(path, { baseHash: slot.live?.contentHash ?? null })
    const { content, contentHash } = text
    if (slotAt.get(text.path)?.draft?.contentHash !== contentHash)
      change(text.path, { content, contentHash, updatedAt: at })
  }
  await documents.saveDraft(workspaceId, draft, [...rows.values()])
}

function isSame(one: HashesOfConflict, other: HashesOfConflict): boolean {
  const { baseHash, liveHash, draftHash, movedTo } = one
  const isSameText = baseHash === other.baseHash && liveHash === other.liveHash && draftHash === other.draftHash
  return isSameText && movedTo === other.movedTo
}

type HashesOfConflict = ReturnType<typeof hashesOfConflict>

/** Describes how publishing the slot would conflict. */
export function hashesOfConflict({ path, draft, live, movedTo }: SlotHead) {
  const draftHash = draft && draft.deletedAt === null ? draft.contentHash : null
  return {
    path,
    documentUuid: live?.documentUuid ?? draft?.documentUuid ?? '',
    baseHash: draft?.baseHash ?? null,
    liveHash: live?.contentHash ?? null,
    draftHash: movedTo ? movedTo.contentHash : draftHash,
    ...(movedTo && { movedTo: movedTo.path }),
  }
}
