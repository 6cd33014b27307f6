import type { Change, PushResult as PushBody } from '@stet/contract/vocabulary'
import { refuse } from '../../../shared/app-error.ts'
import type { Needs, Stores } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import {
  assertCurrent,
  type CurrentWrites,
  type MergingWrite,
  mergedTexts,
  writeMerged,
} from '../../documents/merge/write-merged.ts'
import type { Slot, VersionSet } from '../../documents/ports.ts'
import { documentNotFound } from '../../documents/read-document.ts'
import { findVersionRow, ownerOf, type VersionAddress } from '../../documents/version-ref.ts'
import type { Version } from '../../projects/project.ts'
import { findBrokenReferences } from './broken-references.ts'
import { type Plan, type PlanInput, planChanges, planReplacement, readChanges } from './plan-changes.ts'
import { findRepeated, type RepeatedMoves } from './repeated-moves.ts'

/** `documentsProcessed` counts the changes that are not `unchanged`, the other numbers the changed texts. */
export type PushResult = Omit<PushBody, 'commitUuid'>

type Pushes = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

/**
 * @throws AppError BadRequestError; NotFoundError, also for a prompt that should move; ConflictError with all mismatched
 * `baseHash` and `liveHash`, or for a path that is not free.
 */
export async function pushChanges(
  deps: Pushes,
  input: VersionAddress & { changes: readonly Change[]; merge?: boolean },
): Promise<PushResult> {
  const push = { changes: readChanges(input.changes), replaces: false }
  if (!input.merge) return writePush(deps, input, push)
  return writeMerged(deps, input, [...push.changes].flatMap(mergingWrite), (current) =>
    writePush(deps, input, { ...push, changes: withCurrent(push.changes, current), current }),
  )
}

async function writePush(deps: Pushes, input: VersionAddress, push: Push): Promise<PushResult> {
  const { caller } = input
  const moves = [...push.changes.values()].some(({ status }) => status === 'moved')
  // Read before the write, because scans do not belong into a transaction.
  const brokenReferences = moves ? await previewBroken(deps, input, push) : []
  return changeProject(deps, input, async (writer) => {
    const version = assertDraft(await findVersionRow(writer.stores, input))
    const plan = await planPush(writer.stores, version, { ...push, at: writer.at, caller })
    if (await writePlan(writer.stores, caller.workspaceId, version, plan)) await writer.touch(version)
    const { added, modified, deleted, moved } = plan
    const merged = mergedTexts(push.current)
    const counts = { documentsProcessed: push.changes.size, added, modified, deleted }
    const broken = moves && { moved, brokenReferences }
    return { versionUuid: version.uuid, ...counts, ...broken, ...(merged.length > 0 && { merged }) }
  })
}

async function previewBroken(deps: Pushes, input: VersionAddress, push: Push): Promise<string[]> {
  const draft = assertDraft(await findVersionRow(deps.stores, input))
  const plan = await planPush(deps.stores, draft, { ...push, at: deps.clock.now(), caller: input.caller })
  return findBrokenReferences(deps, ownerOf(input), draft, plan)
}

/** @throws AppError BadRequestError */
export function assertDraft(version: Version): Version {
  if (version.number !== null) throw refuse('merged-version')
  return version
}

/** A move without a text merges nothing. */
function mergingWrite([path, { status, content, baseHash = '', base, from }]: [string, Change]): MergingWrite[] {
  if (status === 'moved' && content === undefined) return []
  const origin = status === 'moved' && from !== undefined && { from }
  return [{ path, content: status === 'deleted' ? null : (content ?? null), baseHash, base, ...origin }]
}

function withCurrent(changes: ReadonlyMap<string, Change>, current: CurrentWrites): Map<string, Change> {
  const replaced = [...changes].map(([path, change]): [string, Change] => {
    const merging = current.get(path)
    if (!merging) return [path, change]
    const { content, baseHash } = merging
    return [path, { ...change, ...(typeof content === 'string' && { content }), baseHash }]
  })
  return new Map(replaced)
}

/** A move without a text takes the prompt with a newer text, unless `from` may have got another prompt since. */
function withoutBases(
  changes: ReadonlyMap<string, Change>,
  current: CurrentWrites,
  slots: readonly Slot[],
  repeated: RepeatedMoves,
): Map<string, Change> {
  const slotAt = new Map(slots.map((slot) => [slot.path, slot]))
  const moving = [...changes].map(([path, change]): [string, Change] => {
    const { baseHash: _baseHash, ...move } = change
    const from = slotAt.get(change.from ?? path)
    const keepsBase = current.has(path) || (from && !repeated.has(path) && mayBeAnother(from))
    return [path, keepsBase ? change : move]
  })
  return new Map(moving)
}

function mayBeAnother({ draft, movedTo }: Slot): boolean {
  if (draft === null || draft.deletedAt !== null) return false
  return movedTo !== null || (draft.baseHash === null && draft.movedFrom === null)
}

export interface Push extends Pick<PlanInput, 'changes' | 'replaces'> {
  /** The same changes, if they are merged with newer texts. */
  current?: CurrentWrites
}

/**
 * @param draft may not exist yet: `noDraft` shows live.
 * @throws AppError NotFoundError for a prompt that should move; ConflictError with all mismatched hashes, for a path that
 * is not free, or with the other authors' changes that would be dropped.
 */
export async function planPush(
  stores: Stores,
  draft: VersionSet,
  { current, ...push }: Push & Pick<PlanInput, 'caller' | 'at'>,
): Promise<Plan> {
  const { documents } = stores
  const { workspaceId } = push.caller
  const paths = [...push.changes].flatMap(([path, { from }]) => (from === undefined ? [path] : [path, from]))
  const slots = await documents.listSlots(workspaceId, draft, [...new Set(paths)])
  const repeated = push.replaces ? new Map() : findRepeated(push.changes, slots)
  if (current) assertCurrent(current, slots, repeated)
  const changes = current ? withoutBases(push.changes, current, slots, repeated) : push.changes
  const plan = planChanges({ ...push, changes, repeated }, slots)
  if (plan.missing !== undefined) throw await documentNotFound({ stores }, workspaceId, draft, plan.missing)
  return push.replaces ? planReplacement(plan, await documents.listSlotHeads(workspaceId, draft), push.caller) : plan
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
