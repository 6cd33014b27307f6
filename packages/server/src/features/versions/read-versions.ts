/** Reads versions with their records: who published them, how much they change, and their forced edits. */
import type { VersionStatus } from '@stet/contract/vocabulary'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject, projectScope, resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import { NEW_DRAFT, type RecordedVersion, type Version } from '../projects/project.ts'

type Reads = Needs<'stores' | 'liveCache'>

/** Lists drafts first, newest first, then merged versions. @throws AppError NotFoundError */
export async function listVersions(
  deps: Reads,
  input: { caller: Caller; projectId: number; status?: VersionStatus },
): Promise<RecordedVersion[]> {
  const { workspaceId } = input.caller
  const { id } = await findProject(deps, input.caller, input.projectId)
  const versions = await deps.stores.versions.list(workspaceId, id, input.status)
  const records = await deps.stores.versions.listRecords(workspaceId, id, versions)
  return versions.map((version) => ({ ...version, ...(records.get(version.id) ?? NEW_DRAFT) }))
}

/** @throws AppError NotFoundError for the project or the version. */
export async function readVersion(deps: Reads, input: VersionAddress): Promise<RecordedVersion> {
  const { version } = await resolveVersion(deps, input)
  return recordedVersion(deps, input, version)
}

/** Reads the record through the cache: every write of the project drops it. */
export async function recordedVersion(
  deps: Reads,
  { caller, projectId }: Pick<VersionAddress, 'caller' | 'projectId'>,
  version: Version,
): Promise<RecordedVersion> {
  const record = await deps.liveCache.read(projectScope(projectId), `record:${version.id}`, async () => {
    const records = await deps.stores.versions.listRecords(caller.workspaceId, projectId, [version])
    return records.get(version.id) ?? NEW_DRAFT
  })
  const { asOf } = version
  if (asOf === undefined) return { ...version, ...record }
  const forcedEdits = record.forcedEdits.filter(({ revision }) => revision <= asOf)
  const updatedAt = forcedEdits.at(-1)?.createdAt ?? version.mergedAt ?? version.updatedAt
  return { ...version, ...record, forcedEdits, updatedAt }
}
