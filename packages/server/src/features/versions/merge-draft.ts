import type { Caller } from '../../shared/caller.ts'
import type { ProjectWriter } from '../documents/change-project.ts'
import { isVacated } from '../documents/overlay.ts'
import type { SlotOf } from '../documents/ports.ts'
import type { Version } from '../projects/project.ts'
import { addRelease, type OverriddenGate } from '../projects/release.ts'
import type { Publication } from './ports.ts'

interface MergeInput {
  caller: Caller
  draft: Version
  slots: readonly { path: string }[]
  /** The slots that change live. */
  changes: readonly SlotOf<unknown>[]
  publication: Omit<Publication, 'number' | 'base'>
  /** The base that an import records. Default: the live version. */
  base?: Publication['base'] | undefined
  reason?: string | undefined
  overrides?: readonly OverriddenGate[]
}

export type MergedVersion = Version & { number: number; changeCount: number }

/** Makes a draft live under the number after the highest one. */
export async function mergeDraft({ stores, project, at }: ProjectWriter, input: MergeInput): Promise<MergedVersion> {
  const { caller, draft, slots, changes, publication, reason, overrides } = input
  const { workspaceId } = caller
  const paths = changes.map(({ path }) => path)
  const changed = new Set(paths)
  const equal = slots.map(({ path }) => path).filter((path) => !changed.has(path))
  const head = await stores.versions.findHeadOptional(workspaceId, project.id)
  const base = head?.isLive ? head : await stores.versions.findLiveOptional(workspaceId, project.id)
  const number = (head?.number ?? 0) + 1
  await stores.documents.deleteDraft(workspaceId, draft, equal)
  // The rows with an open end are those of the highest number, not of live.
  if (base && base.id !== head?.id) await stores.documents.copySet(workspaceId, base, number, paths)
  await stores.documents.publishDraft(workspaceId, draft, number, paths)
  const published = await stores.versions.publish(workspaceId, project.id, draft.id, {
    ...publication,
    number,
    base: input.base ?? base,
  })
  const version = { ...published, number }
  await addRelease(stores, { caller, project, version, kind: 'publish', at, reason, overrides })
  const changeCount = changes.filter((slot) => !isVacated(slot)).length
  if (base?.id === head?.id) return { ...version, changeCount }
  const records = await stores.versions.listRecords(workspaceId, project.id, [version])
  return { ...version, changeCount: records.get(version.id)?.changeCount ?? changeCount }
}
