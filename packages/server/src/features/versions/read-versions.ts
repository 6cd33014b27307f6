/** Reads versions with their records: who published them, how much they change, and their forced edits. */
import type { ListVersionsQuery } from '@stet/contract/vocabulary'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { findProject, projectScope, resolveVersion, type VersionAddress } from '../documents/version-ref.ts'
import {
  newDraft,
  type RecordedVersion,
  restorableSince,
  type Version,
  type VersionRecord,
} from '../projects/project.ts'

type Reads = Needs<'stores' | 'liveCache'>

/** Lists drafts first, newest first, then merged versions. @throws AppError NotFoundError */
export async function listVersions(
  deps: Reads & Needs<'clock'>,
  { caller, projectId, status, deleted = false }: ListVersionsQuery & { caller: Caller; projectId: number },
): Promise<RecordedVersion[]> {
  const { workspaceId } = caller
  const { id } = await findProject(deps, caller, projectId)
  const deletedAfter = deleted ? restorableSince(deps.clock.now()) : undefined
  const versions = await deps.stores.versions.list(workspaceId, id, { status, deletedAfter })
  const records = await deps.stores.versions.listRecords(workspaceId, id, versions)
  return versions.map((version) => ({ ...version, ...(records.get(version.id) ?? newDraft) }))
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
    return recordOf(deps.stores, caller.workspaceId, version)
  })
  const { asOf } = version
  if (asOf === undefined) return { ...version, ...record }
  const forcedEdits = record.forcedEdits.filter(({ revision }) => revision <= asOf)
  const updatedAt = forcedEdits.at(-1)?.createdAt ?? version.mergedAt ?? version.updatedAt
  return { ...version, ...record, forcedEdits, updatedAt }
}

/** Reads from the given stores, which may be a transaction's. */
export async function withRecord(stores: Stores, workspaceId: number, version: Version): Promise<RecordedVersion> {
  return { ...version, ...(await recordOf(stores, workspaceId, version)) }
}

async function recordOf({ versions }: Stores, workspaceId: number, version: Version): Promise<VersionRecord> {
  const records = await versions.listRecords(workspaceId, version.projectId, [version])
  return records.get(version.id) ?? newDraft
}
