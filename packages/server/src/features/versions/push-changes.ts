import { randomUUID } from 'node:crypto'
import type { Change, PushResult as PushBody } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author, Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import { hashContent } from '../documents/check-document.ts'
import type { DocumentText, TextHead } from '../documents/document.ts'
import { assertCreatablePath, normalizeDocumentPath } from '../documents/document-path.ts'
import {
  assertCurrent,
  type CurrentWrites,
  type MergingWrite,
  mergedTexts,
  writeMerged,
} from '../documents/merge/write-merged.ts'
import { deleteText, hashesOf, isChange, type Revision, shownIn, writeText } from '../documents/overlay.ts'
import type { DraftWrite, Slot, SlotOf, VersionSet } from '../documents/ports.ts'
import { assertHashes } from '../documents/preconditions.ts'
import { findVersionRow, type VersionAddress } from '../documents/version-ref.ts'

/** `documentsProcessed` counts the changes that are not `unchanged`, the other numbers the changed texts. */
export type PushResult = Omit<PushBody, 'commitUuid'>

type Pushes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

/** @throws AppError BadRequestError, NotFoundError, ConflictError with all mismatched `baseHash` and `liveHash`. */
export async function pushChanges(
  deps: Pushes,
  input: VersionAddress & { changes: readonly Change[]; merge?: boolean },
): Promise<PushResult> {
  const push = { changes: readChanges(input.changes), replaces: false }
  if (!input.merge) return writePush(deps, input, push)
  return writeMerged(deps, input, [...push.changes].map(mergingWrite), (current) =>
    writePush(deps, input, { ...push, changes: withCurrent(push.changes, current), current }),
  )
}

function writePush(deps: Pushes, input: VersionAddress, push: Push): Promise<PushResult> {
  return changeProject(deps, input, async (writer) => {
    const version = await findVersionRow(writer.stores, input)
    if (version.number !== null) throw refuse('merged-version')
    const plan = await planPush(writer.stores, version, { ...push, at: writer.at, caller: input.caller })
    if (await writePlan(writer.stores, input.caller.workspaceId, version, plan)) await writer.touch(version)
    const { added, modified, deleted } = plan
    const merged = mergedTexts(push.current)
    const counts = { documentsProcessed: push.changes.size, added, modified, deleted }
    return { versionUuid: version.uuid, ...counts, ...(merged.length > 0 && { merged }) }
  })
}

function mergingWrite([path, { status, content, baseHash = '', base }]: [string, Change]): MergingWrite {
  return { path, content: status === 'deleted' ? null : (content ?? null), baseHash, base }
}

function withCurrent(changes: ReadonlyMap<string, Change>, current: CurrentWrites): Map<string, Change> {
  const replaced = [...changes].map(([path, change]): [string, Change] => {
    const { content, baseHash = '' } = current.get(path) ?? change
    return [path, { ...change, ...(typeof content === 'string' && { content }), baseHash }]
  })
  return new Map(replaced)
}

export interface Push {
  changes: ReadonlyMap<string, Change>
  /** Drops the draft's other changes. Each change names the live text that it is based on, whatever the draft has recorded. */
  replaces: boolean
  /** The same changes, if they are merged with newer texts. */
  current?: CurrentWrites
}

/**
 * @param draft may not exist yet: `noDraft` shows live.
 * @throws AppError ConflictError with all mismatched hashes, or with the other authors' changes that would be dropped.
 */
export async function planPush(
  { documents }: Stores,
  draft: VersionSet,
  { caller, at, ...push }: Push & { caller: Caller; at: Date },
): Promise<Plan> {
  const { workspaceId, author } = caller
  const slots = await documents.listSlots(workspaceId, draft, [...push.changes.keys()])
  if (push.current) assertCurrent(push.current, slots)
  const plan = planChanges(push, new Map(slots.map((slot) => [slot.path, slot])), { at, by: author })
  if (!push.replaces) return plan
  const heads = await documents.listSlotHeads(workspaceId, draft)
  const after = new Map(plan.slots.map((slot) => [slot.path, slot]))
  const paths = heads.filter((head) => isOthersChange(head, author) && !isKept(head, after)).map(({ path }) => path)
  if (paths.length > 0) throw refuse('others-changed', { paths })
  return { ...plan, dropped: heads.map(({ path }) => path).filter((path) => !after.has(path)) }
}

function isOthersChange(head: SlotOf<TextHead>, author: Author): boolean {
  return isChange(head) && head.draft?.updatedBy?.id !== author.id
}

function isKept(head: SlotOf<TextHead>, after: ReadonlyMap<string, SlotOf<WrittenHead>>): boolean {
  const slot = after.get(head.path)
  return slot !== undefined && shownIn(slot)?.contentHash === shownIn(head)?.contentHash
}

/** Returns whether anything was written. */
export async function writePlan(
  { documents }: Stores,
  workspaceId: number,
  draft: VersionSet,
  { writes, dropped }: Plan,
): Promise<boolean> {
  if (writes.length > 0) await documents.saveDraft(workspaceId, draft, writes)
  if (dropped.length > 0) await documents.deleteDraft(workspaceId, draft, dropped)
  return writes.length + dropped.length > 0
}

export function readChanges(changes: readonly Change[]): Map<string, Change> {
  const seen = new Set<string>()
  const wanted = new Map<string, Change>()
  for (const change of changes) {
    const path = normalizeDocumentPath(change.path)
    assertCreatablePath(path)
    if (seen.has(path)) throw refuse('repeated-path', { path })
    seen.add(path)
    if (change.status !== 'unchanged') wanted.set(path, change)
  }
  return wanted
}

type WrittenHead = TextHead & Pick<DocumentText, 'content'>

export interface Plan extends Pick<PushResult, 'added' | 'modified' | 'deleted'> {
  writes: DraftWrite[]
  /** The paths whose rows the draft loses. */
  dropped: string[]
  /** The slots at the pushed paths, after the push. */
  slots: SlotOf<WrittenHead>[]
}

function planChanges({ changes, replaces }: Push, slots: ReadonlyMap<string, Slot>, revision: Revision): Plan {
  const plan: Plan = { writes: [], dropped: [], slots: [], added: 0, modified: 0, deleted: 0 }
  const checked = []
  for (const [path, change] of changes) {
    const slot = slots.get(path) ?? { path, draft: null, live: null }
    checked.push({ path, actual: hashesOf(replaces ? { ...slot, draft: null } : slot), wanted: change })
    const isMerged = change.liveHash !== undefined || replaces
    const write = planChange(slot, change, revision, isMerged)
    plan.slots.push({ path, draft: write ?? slot.draft, live: slot.live })
    if (write === null) continue
    plan.writes.push(write)
    const before = shownIn(slot)?.contentHash ?? null
    const after = write.deletedAt === null ? write.contentHash : null
    // The same text on another base does not count as a change.
    if (before === after) continue
    if (after === null) plan.deleted += 1
    else if (before === null) plan.added += 1
    else plan.modified += 1
  }
  assertHashes(checked)
  return plan
}

function planChange(slot: Slot, { status, content }: Change, revision: Revision, isMerged: boolean): DraftWrite | null {
  if (status === 'deleted') return deleteText(slot, revision, isMerged)
  if (content === undefined) throw refuse('invalid-body', issueAt('changes', `content is required for ${slot.path}`))
  const { path } = slot
  const text = { path, content, contentHash: hashContent(content), documentUuid: randomUUID(), ...revision }
  return writeText(slot, text, isMerged)
}
