import { randomUUID } from 'node:crypto'
import type { Change, PushResult as PushBody } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import { hashContent } from '../documents/check-document.ts'
import { assertCreatablePath, normalizeDocumentPath } from '../documents/document-path.ts'
import { assertCurrent, type CurrentWrites, type MergingWrite, writeMerged } from '../documents/merge/write-merged.ts'
import { deleteText, hashesOf, type Revision, shownIn, writeText } from '../documents/overlay.ts'
import type { DraftWrite, Slot } from '../documents/ports.ts'
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
  const changes = readChanges(input.changes)
  if (!input.merge) return applyChanges(deps, input, changes)
  return writeMerged(deps, input, [...changes].map(mergingWrite), async (current) => {
    const result = await applyChanges(deps, input, withCurrent(changes, current), current)
    const merged = [...current.values()].flatMap(({ path, content, isMerged }) =>
      isMerged && content !== null ? [{ path, content, contentHash: hashContent(content) }] : [],
    )
    return merged.length === 0 ? result : { ...result, merged }
  })
}

async function applyChanges(
  deps: Pushes,
  input: VersionAddress,
  changes: ReadonlyMap<string, Change>,
  current?: CurrentWrites,
): Promise<PushResult> {
  const { workspaceId, author } = input.caller
  return changeProject(deps, input, async ({ stores, at, touch }) => {
    const version = await findVersionRow(stores, input)
    if (version.number !== null) throw refuse('merged-version')
    const slots = await stores.documents.listSlots(workspaceId, version, [...changes.keys()])
    if (current) assertCurrent(current, slots)
    const plan = planChanges(changes, new Map(slots.map((slot) => [slot.path, slot])), { at, by: author })
    if (plan.writes.length > 0) {
      await stores.documents.saveDraft(workspaceId, version, plan.writes)
      await touch(version)
    }
    const { added, modified, deleted } = plan
    return { versionUuid: version.uuid, documentsProcessed: changes.size, added, modified, deleted }
  })
}

function mergingWrite([path, { status, content, baseHash = '', base }]: [string, Change]): MergingWrite {
  return { path, content: status === 'deleted' ? null : (content ?? null), baseHash, base }
}

function withCurrent(changes: ReadonlyMap<string, Change>, current: CurrentWrites): Map<string, Change> {
  const replaced = [...changes].map(([path, change]): [string, Change] => {
    const { content, baseHash } = current.get(path) ?? change
    return [
      path,
      { ...change, ...(typeof content === 'string' && { content }), ...(baseHash !== undefined && { baseHash }) },
    ]
  })
  return new Map(replaced)
}

function readChanges(changes: readonly Change[]): Map<string, Change> {
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

interface Plan extends Pick<PushResult, 'added' | 'modified' | 'deleted'> {
  writes: DraftWrite[]
}

function planChanges(changes: ReadonlyMap<string, Change>, slots: ReadonlyMap<string, Slot>, revision: Revision): Plan {
  const plan: Plan = { writes: [], added: 0, modified: 0, deleted: 0 }
  const checked = []
  for (const [path, change] of changes) {
    const slot = slots.get(path) ?? { path, draft: null, live: null }
    checked.push({ path, actual: hashesOf(slot), wanted: change })
    const write = planChange(slot, change, revision)
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

function planChange(slot: Slot, { status, content, liveHash }: Change, revision: Revision): DraftWrite | null {
  const isMerged = liveHash !== undefined
  if (status === 'deleted') return deleteText(slot, revision, isMerged)
  if (content === undefined) throw refuse('invalid-body', issueAt('changes', `content is required for ${slot.path}`))
  const { path } = slot
  const text = { path, content, contentHash: hashContent(content), documentUuid: randomUUID(), ...revision }
  return writeText(slot, text, isMerged)
}
