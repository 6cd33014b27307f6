/** Drops a draft's changes. A deleted prompt that only the draft had is restored if `paths` names it. */
import type { RevertResult, RevertVersionBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { changeProject } from '../documents/change-project.ts'
import { normalizeDocumentPath } from '../documents/document-path.ts'
import { isChange } from '../documents/overlay.ts'
import type { DraftRow, Slot } from '../documents/ports.ts'
import { findVersionRow, type VersionAddress } from '../documents/version-ref.ts'

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
    const version = await findVersionRow(stores, input)
    if (version.number !== null) throw refuse('merged-version')
    const steps = (await stores.documents.listSlots(workspaceId, version, paths)).flatMap((slot) =>
      planRevert(slot, paths !== undefined),
    )
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

interface RevertStep {
  path: string
  /** The row to keep, with its deletion undone. If null, the row is dropped. */
  keep: DraftRow | null
  /** Null for a row that equals live, because dropping that row changes nothing. */
  reverted: RevertResult['reverted'][number] | null
}

function planRevert({ path, draft, live }: Slot, isByPath: boolean): RevertStep[] {
  if (draft === null) return []
  const documentUuid = live?.documentUuid ?? draft.documentUuid
  const isDeleted = draft.deletedAt !== null
  if (isDeleted && isByPath && live === null && draft.baseHash === null) {
    return [{ path, keep: draft, reverted: { path, documentUuid, action: 'restored' } }]
  }
  if (!isChange({ path, draft, live })) return [{ path, keep: null, reverted: null }]
  const action = isDeleted ? 'restored' : live ? 'reset' : 'removed'
  return [{ path, keep: null, reverted: { path, documentUuid, action } }]
}
