/** Changes drafts as a whole. A deleted draft is unknown to every reader. It can be restored until the purge removes its rows. */
import type { UpdateVersionBody } from '@stet/contract/vocabulary'

import { readUuid } from '../../../shared/text-guards.ts'
import type { Needs, Stores } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { findDraftRow, type VersionAddress } from '../../documents/version-ref.ts'
import { type RecordedVersion, restorableSince, type Version } from '../../projects/project.ts'
import { withRecord } from '../read-versions.ts'

type Writes = Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>

/**
 * Renames a draft, or changes its notes.
 * @throws AppError BadRequestError for a merged version; NotFoundError.
 */
export async function updateDraft(deps: Writes, input: VersionAddress & UpdateVersionBody): Promise<RecordedVersion> {
  const { workspaceId } = input.caller
  return changeProject(deps, input, async ({ stores, touch }) => {
    const draft = await findDraftRow(stores, input)
    const title = input.name ?? draft.title
    const description = input.description === undefined ? draft.description : input.description || null
    if (title === draft.title && description === draft.description) return withRecord(stores, workspaceId, draft)
    await touch(draft)
    const updated = await stores.versions.update(workspaceId, draft.projectId, draft.id, { title, description })
    return withRecord(stores, workspaceId, updated)
  })
}

/**
 * Returns a deleted draft that can be restored unchanged, because a client repeats a request whose response was lost.
 * @throws AppError BadRequestError for a merged version; NotFoundError.
 */
export async function deleteDraft(deps: Writes, input: VersionAddress): Promise<RecordedVersion> {
  const { workspaceId, apiKeyId: by } = input.caller
  return changeProject(deps, input, async ({ stores, at, touch, audit }) => {
    const before = await findRestorable(stores, input, at)
    if (before) return withRecord(stores, workspaceId, before)
    const draft = await findDraftRow(stores, input)
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
    const deleted = await findRestorable(stores, input, at)
    if (!deleted) return withRecord(stores, workspaceId, await findDraftRow(stores, input))
    await touch(deleted)
    const draft = await stores.versions.update(workspaceId, deleted.projectId, deleted.id, { deletedAt: null })
    audit('audit.draft-restored', { workspaceId, versionUuid: draft.uuid, by })
    return withRecord(stores, workspaceId, draft)
  })
}

async function findRestorable({ versions }: Stores, input: VersionAddress, now: Date): Promise<Version | null> {
  const { caller, projectId, versionRef } = input
  const uuid = readUuid(versionRef)
  const draft = uuid ? await versions.findDeletedOptional(caller.workspaceId, projectId, uuid) : null
  return draft?.deletedAt && draft.deletedAt > restorableSince(now) ? draft : null
}
