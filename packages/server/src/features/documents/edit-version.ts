/** Edits a merged version in place. The replaced text stays readable as a revision. */
import type { Caller } from '../../shared/caller.ts'
import type { Version } from '../projects/project.ts'
import { addRelease } from '../projects/release.ts'
import type { ProjectWriter } from './change-project.ts'
import { editMerged, type NewText } from './overlay.ts'
import type { MergedText } from './ports.ts'

export type MergedVersion = Version & { number: number }

interface EditVersionInput {
  caller: Caller
  version: MergedVersion
  /** The text that the edit replaces. Null if the version has no such prompt. */
  old: MergedText | null
  text: NewText
}

/** Returns the version at its new revision. If live serves it, the edit is a release too. */
export async function editVersion(
  { stores, project, at }: ProjectWriter,
  { caller, version, old, text }: EditVersionInput,
): Promise<MergedVersion> {
  const { workspaceId } = caller
  const head = await stores.versions.findHeadOptional(workspaceId, project.id)
  const replacement = editMerged(old, { ...version, isHead: head?.id === version.id }, text)
  await stores.documents.replaceMerged(workspaceId, version, replacement)
  const edited = { ...version, revision: version.revision + 1 }
  const documentUuid = old?.documentUuid ?? text.documentUuid
  await stores.documents.recordForcedEdit(workspaceId, version, {
    ...{ revision: edited.revision, old, text: { ...text, documentUuid } },
    ...{ authorId: text.by.id, at: text.at },
  })
  if (version.isLive) await addRelease(stores, { caller, project, version: edited, kind: 'edit', at })
  return edited
}
