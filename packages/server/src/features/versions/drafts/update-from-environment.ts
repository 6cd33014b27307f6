/** Merges live's newer texts into a draft, so that publishing finds fewer conflicts. */
import type { UpdateFromEnvironmentBody, UpdateResult } from '@stet/contract/vocabulary'
import type { Needs } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { normalizeDocumentPath } from '../../documents/document-path.ts'
import { findDraftRow, findProject, ownerOf, type VersionAddress } from '../../documents/version-ref.ts'
import type { Version } from '../../projects/project.ts'
import { untilUnchanged } from './compile-draft.ts'
import { type LiveMerges, mergeWithLive, writeMerges } from './merge-with-live.ts'

type Updates = Needs<'stores' | 'transaction' | 'liveCache' | 'templates' | 'clock' | 'logger'>

/** @throws AppError BadRequestError for a merged version; NotFoundError; ConflictError for a draft that keeps changing. */
export async function updateFromEnvironment(
  deps: Updates,
  input: VersionAddress & UpdateFromEnvironmentBody,
): Promise<UpdateResult> {
  const paths = input.paths && new Set(input.paths.map(normalizeDocumentPath))
  await findProject(deps, input.caller, input.projectId)
  return untilUnchanged(async () => {
    const draft = await findDraftRow(deps.stores, input)
    const slots = await deps.stores.documents.listSlotHeads(input.caller.workspaceId, draft)
    const asked = slots.filter(({ path, movedTo }) => !paths || paths.has(path) || (movedTo && paths.has(movedTo.path)))
    const merges = await mergeWithLive(deps, ownerOf(input), { set: draft, slots: asked, written: new Map() })
    if (merges.clean.size === 0) return describeUpdate(draft, merges)
    return writeUpdate(deps, input, merges)
  })
}

function writeUpdate(deps: Updates, input: VersionAddress, merges: LiveMerges): Promise<UpdateResult> {
  return changeProject(deps, input, async (writer) => {
    const draft = await findDraftRow(writer.stores, input)
    await writeMerges(writer, input.caller, draft, merges)
    await writer.touch(draft)
    return describeUpdate(draft, merges)
  })
}

function describeUpdate({ uuid }: Version, { clean, conflicts }: LiveMerges): UpdateResult {
  const updated = [...clean.values()].map(({ text: { path, contentHash } }) => ({ path, contentHash }))
  return { versionUuid: uuid, updated, conflicts: [...conflicts.values()] }
}
