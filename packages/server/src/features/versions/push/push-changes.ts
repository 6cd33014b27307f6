import type { Change, PushResult as PushBody } from '@stet/contract/vocabulary'
import type { Needs, Stores } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { inBatches } from '../../documents/check-document.ts'
import type { DocumentText } from '../../documents/document.ts'
import { comparePaths } from '../../documents/document-path.ts'
import {
  assertCurrent,
  type CurrentWrites,
  type MergingWrite,
  mergedTexts,
  mergeTarget,
  writeMerged,
} from '../../documents/merge/write-merged.ts'
import { shownIn } from '../../documents/overlay.ts'
import type { Slot, VersionSet } from '../../documents/ports.ts'
import { documentNotFound } from '../../documents/read-document.ts'
import { readTexts } from '../../documents/read-texts.ts'
import { findDraftRow, ownerOf, type VersionAddress } from '../../documents/version-ref.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import { type Plan, type PlanInput, planChanges, planReplacement, readChanges, withoutDraft } from './plan-changes.ts'
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
  return mergePush(deps, mergeTarget(deps, input), push, (merging) => writePush(deps, input, merging))
}

/** Repeats `write` with merged texts. */
export function mergePush<Result>(
  deps: Needs<'stores' | 'templates'>,
  target: Parameters<typeof writeMerged>[1],
  push: Push,
  write: (push: Push) => Promise<Result>,
): Promise<Result> {
  return writeMerged(deps, target, [...push.changes].flatMap(mergingWrite), (current) =>
    write({ ...push, changes: withCurrent(push.changes, current), current }),
  )
}

/** The part of a result that a caller cannot derive from its request. */
export type PushOutcome = Pick<PushBody, 'brokenReferences' | 'merged'>

/**
 * Computed before the write, because scans do not belong in a transaction.
 * @param findSet finds the texts that the push changes.
 */
export async function previewOutcome(
  deps: Needs<'stores' | 'templates' | 'clock'>,
  input: Pick<VersionAddress, 'caller' | 'signal'>,
  push: Push,
  findSet: () => Promise<VersionSet>,
): Promise<PushOutcome> {
  const merged = mergedTexts(push.current)
  const outcome = merged.length > 0 && { merged }
  if (![...push.changes.values()].some(({ status }) => status === 'moved')) return { ...outcome }
  const set = await findSet()
  const plan = await planPush(deps.stores, set, { ...push, at: deps.clock.now(), caller: input.caller })
  return { brokenReferences: await findBrokenReferences(deps, ownerOf(input), set, plan), ...outcome }
}

async function writePush(deps: Pushes, input: VersionAddress, push: Push): Promise<PushResult> {
  const { caller } = input
  const outcome = await previewOutcome(deps, input, push, () => findDraftRow(deps.stores, input))
  return changeProject(deps, input, async (writer) => {
    const version = await findDraftRow(writer.stores, input)
    const plan = await planPush(writer.stores, version, { ...push, at: writer.at, caller })
    if (await writePlan(writer.stores, caller.workspaceId, version, plan)) await writer.touch(version)
    const { added, modified, deleted, moved } = plan
    const counts = { documentsProcessed: push.changes.size, added, modified, deleted }
    return { versionUuid: version.uuid, ...counts, ...(outcome.brokenReferences && { moved }), ...outcome }
  })
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
  // The bases of a replacement concern live's texts.
  const seen = push.replaces ? slots.map(withoutDraft) : slots
  const repeated = findRepeated(push.changes, seen)
  if (current) assertCurrent(current, seen, repeated)
  const changes = current ? withoutBases(push.changes, current, seen, repeated) : push.changes
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

type Referring = Pick<DocumentText, 'path' | 'content'>

/**
 * Lists the prompts that will refer to a path that a push leaves empty, in path order. A scan returns the text's own
 * references without loading them.
 */
export async function findBrokenReferences(
  deps: Needs<'stores' | 'templates'>,
  owner: EvaluationOwner,
  draft: VersionSet,
  { left, slots }: Pick<Plan, 'left' | 'slots'>,
): Promise<string[]> {
  if (left.length === 0) return []
  const gone = new Set(left)
  const broken: string[] = []
  const texts = textsAfter(deps, owner.workspaceId, draft, { left, slots })
  for await (const path of inBatches(deps, texts, owner, async ({ path, content }) => {
    const { references } = await deps.templates.scan({ path, content, documents: {} }, owner)
    return references.some((reference) => gone.has(reference)) ? path : null
  })) {
    if (path !== null) broken.push(path)
  }
  return broken.sort(comparePaths)
}

/** Yields all texts after the push that may refer to one of the paths. */
async function* textsAfter(
  { stores }: Needs<'stores'>,
  workspaceId: number,
  draft: VersionSet,
  { left, slots }: Pick<Plan, 'left' | 'slots'>,
): AsyncGenerator<Referring[]> {
  const written = new Map(slots.map((slot) => [slot.path, shownIn(slot)]))
  const [only, ...others] = left
  const filter = others.length === 0 && only !== undefined ? { mentions: only } : { paths: [], orReferring: true }
  for await (const part of readTexts(stores, workspaceId, draft, filter)) {
    yield part.filter(({ path }) => !written.has(path))
  }
  yield [...written.values()].filter((text) => text !== null)
}
