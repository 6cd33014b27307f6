/** A deleted draft is unknown to every reader. It can be restored until the purge removes its rows. */

import { refuse } from '../../../shared/app-error.ts'
import { readUuid } from '../../../shared/text-guards.ts'
import type { Needs } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { findVersionRow, type VersionAddress } from '../../documents/version-ref.ts'
import { type RecordedVersion, restorableSince, type Version } from '../../projects/project.ts'
import { withRecord } from '../read-versions.ts'

type Writes = Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>

/** @throws AppError BadRequestError for a merged version; NotFoundError, also for a draft that is already deleted. */
export async function deleteDraft(deps: Writes, input: VersionAddress): Promise<RecordedVersion> {
  const { workspaceId, apiKeyId: by } = input.caller
  return changeProject(deps, input, async ({ stores, at, touch, audit }) => {
    const draft = await findVersionRow(stores, input)
    assertDraft(draft)
    await touch(draft)
    const deleted = await stores.versions.update(workspaceId, draft.projectId, draft.id, { deletedAt: at })
    audit('audit.draft-deleted', { workspaceId, versionUuid: draft.uuid, by })
    return withRecord(stores, workspaceId, deleted)
  })
}

/**
 * Returns a draft that is not deleted unchanged.
 * @throws AppError BadRequestError for a merged version; NotFoundError, also when the time for restoring is over.
 */
export async function restoreDraft(deps: Writes, input: VersionAddress): Promise<RecordedVersion> {
  const { workspaceId, apiKeyId: by } = input.caller
  return changeProject(deps, input, async ({ stores, at, touch, audit }) => {
    const uuid = readUuid(input.versionRef)
    const deleted = uuid ? await stores.versions.findDeletedOptional(workspaceId, input.projectId, uuid) : null
    if (!deleted?.deletedAt || deleted.deletedAt <= restorableSince(at)) {
      const version = await findVersionRow(stores, input)
      assertDraft(version)
      return withRecord(stores, workspaceId, version)
    }
    await touch(deleted)
    const draft = await stores.versions.update(workspaceId, deleted.projectId, deleted.id, { deletedAt: null })
    audit('audit.draft-restored', { workspaceId, versionUuid: draft.uuid, by })
    return withRecord(stores, workspaceId, draft)
  })
}

function assertDraft({ number }: Version): void {
  if (number !== null) throw refuse('merged-version')
}
