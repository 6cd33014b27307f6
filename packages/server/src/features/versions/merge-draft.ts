import type { Caller } from '../../shared/caller.ts'
import type { ProjectWriter } from '../documents/change-project.ts'
import type { Slot } from '../documents/ports.ts'
import type { Version } from '../projects/project.ts'
import type { Publication } from './ports.ts'

interface MergeInput {
  caller: Caller
  draft: Version
  slots: readonly Pick<Slot, 'path'>[]
  /** The slots that change live. */
  changes: readonly Pick<Slot, 'path'>[]
  publication: Omit<Publication, 'number'>
}

/** Makes a draft live under the next number. */
export async function mergeDraft({ stores }: ProjectWriter, input: MergeInput): Promise<Version & { number: number }> {
  const { draft, slots, changes, publication } = input
  const { workspaceId } = input.caller
  const paths = changes.map(({ path }) => path)
  const changed = new Set(paths)
  const equal = slots.map(({ path }) => path).filter((path) => !changed.has(path))
  const live = await stores.versions.findLiveOptional(workspaceId, draft.projectId)
  const number = (live?.number ?? 0) + 1
  await stores.documents.deleteDraft(workspaceId, draft, equal)
  await stores.documents.publishDraft(workspaceId, draft, number, paths)
  const version = await stores.versions.publish(workspaceId, draft.projectId, draft.id, { ...publication, number })
  return { ...version, number }
}
