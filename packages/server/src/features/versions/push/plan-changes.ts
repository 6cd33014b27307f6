/** Computes the rows of a draft after a push. The changes apply at once, so prompts can swap their paths. */
import { randomUUID } from 'node:crypto'
import type { Change } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../../shared/app-error.ts'
import type { Author, Caller } from '../../../shared/caller.ts'
import { hashContent } from '../../documents/check-document.ts'
import type { TextHead } from '../../documents/document.ts'
import { assertCreatablePath, normalizeDocumentPath } from '../../documents/document-path.ts'
import {
  deleteText,
  hashesOf,
  isChange,
  type MovedText,
  moveText,
  originOf,
  shownIn,
  vacate,
  writeText,
} from '../../documents/overlay.ts'
import type { DraftWrite, PlannedSlot, Slot, SlotOf } from '../../documents/ports.ts'
import { assertHashes } from '../../documents/preconditions.ts'
import { isWritten, type RepeatedMoves } from './repeated-moves.ts'

export interface PlanInput {
  /** By normalized path. */
  changes: ReadonlyMap<string, Change>
  /**
   * Drops the draft's other changes. Each change names the live text that it is based on, regardless of the draft's
   * record.
   */
  replaces: boolean
  repeated: RepeatedMoves
  caller: Caller
  at: Date
}

export interface Plan {
  writes: DraftWrite[]
  /** The paths whose rows the draft loses. */
  dropped: string[]
  /** The slots at the pushed paths and at those that prompts leave, after the push. */
  slots: PlannedSlot[]
  /** The paths that moves leave without a prompt. */
  left: string[]
  /** The first path without the prompt that should move. */
  missing?: string
  added: number
  modified: number
  deleted: number
  moved: number
}

/** @throws AppError BadRequestError */
export function readChanges(changes: readonly Change[]): Map<string, Change> {
  const seen = new Set<string>()
  const sources = new Set<string>()
  const wanted = new Map<string, Change>()
  for (const { from: given, ...change } of changes) {
    const path = readPath(change.path, seen)
    if (change.status === 'unchanged') continue
    if (change.status !== 'moved') {
      wanted.set(path, change)
      continue
    }
    if (given === undefined) throw refuse('invalid-body', issueAt('changes', `from is required for ${path}`))
    const from = readPath(given, sources)
    if (from === path) throw refuse('invalid-body', issueAt('changes', `${path} cannot move to itself`))
    wanted.set(path, { ...change, from })
  }
  return wanted
}

function readPath(given: string, seen: Set<string>): string {
  const path = normalizeDocumentPath(given)
  assertCreatablePath(path)
  if (seen.has(path)) throw refuse('repeated-path', { path })
  seen.add(path)
  return path
}

/**
 * @throws AppError BadRequestError for a text that is missing; ConflictError with all mismatched hashes, or for a path
 * that is not free.
 */
export function planChanges(input: PlanInput, stored: readonly Slot[]): Plan {
  const { changes } = input
  const slots = new Map(stored.map((slot) => [slot.path, slot]))
  const sources = findSources(input, slots)
  assertHashes([...changes].map(([path, change]) => hashesAt(input, slotAt(slots, path), change, sources)))
  const plan: Plan = { writes: [], dropped: [], slots: [], left: [], added: 0, modified: 0, deleted: 0, moved: 0 }
  const returned = new Set<string>()
  for (const [path, change] of changes) {
    const slot = slotAt(slots, path)
    const target = targetOf(input, slot, sources.get(path))
    // The rows of two paths may keep one deleted prompt. It returns to the first of them.
    if (target.draft?.deletedAt && change.status !== 'deleted') {
      const { documentUuid } = target.draft
      if (returned.has(documentUuid)) target.isElsewhere = true
      returned.add(documentUuid)
    }
    if (isMove(change)) planMove(plan, input, { change, slot, target, source: sources.get(change.from) })
    else planWrite(plan, input, { change, slot, target })
  }
  for (const [path, { slot, row }] of sources) if (!changes.has(path)) settle(plan, slot, row)
  plan.left = plan.slots.filter((slot) => sources.has(slot.path) && shownIn(slot) === null).map(({ path }) => path)
  return plan
}

type Slots = ReadonlyMap<string, Slot>
type Move = Change & { from: string }

function isMove(change: Change): change is Move {
  return change.status === 'moved'
}

function slotAt(slots: Slots, path: string): Slot {
  return slots.get(path) ?? { path, draft: null, live: null, movedTo: null }
}

export function withoutDraft({ path, live }: Slot): Slot {
  return { path, draft: null, live, movedTo: null }
}

/** A path that a prompt leaves. */
interface Source {
  slot: Slot
  to: string
  /** The prompt. Null if there is none. */
  text: MovedText | null
  /** The row at the path afterwards, if no other change writes it. */
  row: DraftWrite | null
}

function findSources({ changes, replaces, repeated, caller, at }: PlanInput, slots: Slots): Map<string, Source> {
  const sources = new Map<string, Source>()
  for (const [to, change] of changes) {
    if (!isMove(change)) continue
    const { from, liveHash } = change
    const slot = slotAt(slots, from)
    const seen = replaces ? withoutDraft(slot) : slot
    const isMerged = liveHash !== undefined || replaces
    const done = repeated.get(to)
    const row = vacate(seen, done ? null : { at, by: caller.author }, isMerged)
    const found = done ?? shownIn(seen)
    const origin = done ? from : originOf(seen)
    // If neither live nor the base has the prompt any more, only the draft has it.
    const text = found && { ...textOf(found), origin: row === null && origin === from ? null : origin }
    sources.set(from, { slot, to, text, row })
  }
  return sources
}

function textOf({ documentUuid, content, contentHash, createdAt }: Omit<MovedText, 'origin'>) {
  return { documentUuid, content, contentHash, createdAt }
}

type Sources = ReadonlyMap<string, Source>

/** The hashes of a move concern the path that the prompt leaves. */
function hashesAt({ replaces, repeated }: PlanInput, slot: Slot, change: Change, sources: Sources) {
  const source = isMove(change) ? sources.get(change.from) : undefined
  if (source) {
    const shown = source.text?.contentHash ?? null
    const actual = { shown, live: source.slot.live?.contentHash ?? null }
    const { baseHash: _baseHash, ...others } = change
    const isDone = shown !== null && repeated.has(slot.path) && isWritten(change, shown)
    return { path: source.slot.path, actual, wanted: isDone ? others : change }
  }
  return { path: slot.path, actual: hashesOf(replaces ? withoutDraft(slot) : slot), wanted: change }
}

/** Returns the slot that a change writes to: prompts that leave it are gone. */
function targetOf({ changes, replaces }: PlanInput, slot: Slot, source: Source | undefined): PlannedSlot {
  const { draft, live, movedTo } = slot
  const moves = changes.get(slot.path)?.status === 'moved'
  const isMoving = movedTo !== null || (draft?.movedFrom ?? null) !== null
  if (source) {
    const { to, text, row } = source
    const isOwn = originOf(replaces ? withoutDraft(slot) : slot) === slot.path
    const leaves = isOwn && text ? { path: to, contentHash: text.contentHash } : movedTo
    // A repeated replacement keeps the prompt that an earlier one added after the move.
    const isKept = !moves && replaces && movedTo !== null && draft?.deletedAt === null && draft.movedFrom === null
    return { path: slot.path, live, draft: isKept ? draft : row, movedTo: leaves }
  }
  if (replaces && (isMoving || moves)) return withoutDraft(slot)
  const isFree = !replaces && movedTo && changes.get(movedTo.path)?.status === 'deleted'
  return isFree ? { path: slot.path, draft, live, movedTo: null } : { ...slot }
}

interface Planned<Given extends Change> {
  change: Given
  slot: Slot
  target: PlannedSlot
}

function planWrite(plan: Plan, { replaces, caller, at }: PlanInput, { change, slot, target }: Planned<Change>): void {
  const { path } = slot
  const { status, content, liveHash } = change
  const revision = { at, by: caller.author }
  const isMerged = liveHash !== undefined || replaces
  let row: DraftWrite | null
  if (status === 'deleted') row = deleteText(target, revision, isMerged)
  else {
    if (content === undefined) throw refuse('invalid-body', issueAt('changes', `content is required for ${path}`))
    const text = { path, content, contentHash: hashContent(content), documentUuid: randomUUID(), ...revision }
    row = writeText(target, text, isMerged)
  }
  const after = row ?? target.draft
  if (!settle(plan, slot, after)) return
  const texts = [shownIn(target), shownIn({ draft: after, live: slot.live })].map((text) => text?.contentHash ?? null)
  const [old, now] = texts
  // The same text on another base does not count as a change.
  if (old === now) return
  if (now === null) plan.deleted += 1
  else if (old === null) plan.added += 1
  else plan.modified += 1
}

/** @throws AppError ConflictError */
function planMove(
  plan: Plan,
  { replaces, repeated, caller, at }: PlanInput,
  { change, slot, target, source }: Planned<Move> & { source: Source | undefined },
): void {
  if (!source?.text) {
    plan.missing ??= change.from
    return
  }
  const { text } = source
  if (!repeated.has(slot.path) && shownIn(target) !== null) throw refuse('path-taken', { path: slot.path })
  const { content } = change
  const moved = content === undefined ? text : { ...text, content, contentHash: hashContent(content) }
  if (settle(plan, slot, moveText(target, moved, { at, by: caller.author }, replaces))) plan.moved += 1
}

/** Adds the row to the plan. Returns whether it differs from the stored one. */
function settle(plan: Plan, { path, live, draft }: Slot, row: DraftWrite | null): boolean {
  plan.slots.push({ path, live, draft: row, movedTo: null })
  if (isSame(draft, row)) return false
  if (row === null) plan.dropped.push(path)
  else plan.writes.push(row)
  return true
}

function isSame(one: DraftWrite | null, other: DraftWrite | null): boolean {
  if (one === null || other === null) return one === other
  return (
    one.documentUuid === other.documentUuid &&
    one.contentHash === other.contentHash &&
    one.baseHash === other.baseHash &&
    one.movedFrom === other.movedFrom &&
    (one.deletedAt === null) === (other.deletedAt === null)
  )
}

/**
 * Drops the draft's other changes.
 * @throws AppError ConflictError with the other authors' changes that would be dropped.
 */
export function planReplacement(plan: Plan, heads: readonly SlotOf<TextHead>[], { author }: Caller): Plan {
  const after = new Map(plan.slots.map((slot) => [slot.path, slot]))
  const paths = heads.filter((head) => isOthersChange(head, author) && !isKept(head, after)).map(({ path }) => path)
  if (paths.length > 0) throw refuse('others-changed', { paths })
  const others = heads.map(({ path }) => path).filter((path) => !after.has(path))
  return { ...plan, dropped: [...plan.dropped, ...others] }
}

function isOthersChange(head: SlotOf<TextHead>, author: Author): boolean {
  return isChange(head) && head.draft?.updatedBy?.id !== author.id
}

function isKept(head: SlotOf<TextHead>, after: ReadonlyMap<string, PlannedSlot>): boolean {
  const slot = after.get(head.path)
  if (slot === undefined || shownIn(slot)?.contentHash !== shownIn(head)?.contentHash) return false
  return (slot.draft?.movedFrom ?? null) === (head.draft?.movedFrom ?? null)
}
