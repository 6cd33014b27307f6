/** Drops a draft's changes. A deleted prompt that only the draft had is restored if `paths` names it. */
import type { RevertResult, RevertVersionBody } from '@stet/contract/vocabulary'
import type { Needs, Stores } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import { normalizeDocumentPath } from '../documents/document-path.ts'
import { isChange } from '../documents/overlay.ts'
import type { DraftRow, Slot, SlotOf } from '../documents/ports.ts'
import { findDraftRow, type VersionAddress } from '../documents/version-ref.ts'
import type { Version } from '../projects/project.ts'

/**
 * Skips paths without a change.
 * @throws AppError BadRequestError for a merged version, NotFoundError for the project or the version.
 */
export async function revertDraft(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: VersionAddress & RevertVersionBody,
): Promise<RevertResult> {
  const { workspaceId, apiKeyId, author } = input.caller
  const paths = input.paths && [...new Set(input.paths.map(normalizeDocumentPath))]
  return changeProject(deps, input, async ({ stores, at, touch, audit }) => {
    const version = await findDraftRow(stores, input)
    const slots = await listReverted(stores, workspaceId, version, paths)
    const steps = slots.flatMap((slot) => planRevert(slot, paths !== undefined))
    const revision = { deletedAt: null, updatedAt: at, updatedBy: author }
    const restored = steps.flatMap(({ keep }) => (keep ? [{ ...keep, ...revision }] : []))
    const dropped = steps.filter(({ keep }) => keep === null).map(({ path }) => path)
    if (restored.length > 0) await stores.documents.saveDraft(workspaceId, version, restored)
    if (dropped.length > 0) await stores.documents.deleteDraft(workspaceId, version, dropped)
    const reverted = steps.flatMap((step) => step.reverted ?? [])
    if (reverted.length > 0) {
      await touch(version)
      const { uuid: versionUuid } = version
      audit('audit.revert', { workspaceId, versionUuid, documents: reverted.length, by: apiKeyId })
    }
    return { versionUuid: version.uuid, reverted }
  })
}

/**
 * Adds the other paths of moves: live's prompt returns to a path only if what the draft has moved there goes back too.
 * Sends at most two statements more, however many moves follow one another.
 */
async function listReverted(
  { documents }: Stores,
  workspaceId: number,
  draft: Version,
  paths: readonly string[] | undefined,
): Promise<Slot[]> {
  const slots = await documents.listSlots(workspaceId, draft, paths)
  const found = slots.flatMap(linkedPaths)
  if (paths === undefined || found.length === 0) return slots
  const heads = new Map((await documents.listSlotHeads(workspaceId, draft)).map((head) => [head.path, head]))
  const reached = new Set([...slots.map(({ path }) => path), ...found])
  // Iterating over a set also visits entries added during the iteration.
  for (const path of reached) for (const other of linkedPaths(heads.get(path))) reached.add(other)
  const others = [...reached].filter((path) => !slots.some((slot) => slot.path === path))
  return others.length === 0 ? slots : [...slots, ...(await documents.listSlots(workspaceId, draft, others))]
}

/** A deleted prompt returns to the path that it came from, unless the draft shows it again. */
function linkedPaths(slot?: SlotOf<unknown>): string[] {
  if (!slot) return []
  const { movedTo, draft, isElsewhere } = slot
  const isGone = draft !== null && draft.deletedAt !== null && isElsewhere !== false
  return [movedTo?.path, isGone ? null : draft?.movedFrom].filter((path) => typeof path === 'string')
}

interface RevertStep {
  path: string
  /** The row to keep, with its deletion undone. If null, the row is dropped. */
  keep: DraftRow | null
  /** Null for a row that equals live, because dropping that row changes nothing. */
  reverted: RevertResult['reverted'][number] | null
}

function planRevert(slot: Slot, isByPath: boolean): RevertStep[] {
  const { path, draft, live } = slot
  if (draft === null) return []
  const documentUuid = live?.documentUuid ?? draft.documentUuid
  const isDeleted = draft.deletedAt !== null
  if (isDeleted && isByPath && live === null && draft.baseHash === null && draft.movedFrom === null) {
    return [{ path, keep: draft, reverted: { path, documentUuid, action: 'restored' } }]
  }
  if (!isChange(slot)) return [{ path, keep: null, reverted: null }]
  const action = isDeleted ? 'restored' : live ? 'reset' : 'removed'
  return [{ path, keep: null, reverted: { path, documentUuid, action } }]
}
