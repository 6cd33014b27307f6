/** The history of live. Each release says what live serves from then on, and where a rollback returns to. */
import { randomUUID } from 'node:crypto'
import type { GateVerdict, ReleaseKind } from '@stet/contract/vocabulary'
import type { Author, Caller } from '../../shared/caller.ts'
import type { Project, Version } from './project.ts'

/** A version with the revision that live served. */
export type ReleasedVersion = Pick<Version, 'id' | 'uuid' | 'title' | 'revision'> & { number: number }

export interface Release {
  uuid: string
  /** Dense from 1 per project. */
  seq: number
  kind: ReleaseKind
  version: ReleasedVersion
  /** The version that live served before. Null for the first release. */
  from: ReleasedVersion | null
  /** True if no forced edit has changed the version since. */
  isCurrent: boolean
  /** The `seq` of the release to which a rollback returns. Null if there is none. */
  returnsTo: number | null
  author: Author
  reason: string | null
  /** The verdicts of gates that the publication overrode. */
  overrides: readonly OverriddenGate[]
  createdAt: Date
}

export interface ReleasePlace {
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export interface ReleasePage {
  items: Release[]
  nextCursor: string | null
}

/** Releases are never changed. Writers must lock the project's row first (`ProjectStore.lock`). */
export interface ReleaseStore {
  /** Lists a page by descending `seq`. */
  list(workspaceId: number, projectId: number, page: ReleasePlace): Promise<ReleasePage>
  findLatestOptional(workspaceId: number, projectId: number): Promise<Release | null>
  findOptional(workspaceId: number, projectId: number, seq: number): Promise<Release | null>
  /** Returns the newest release of the version, or of the version at the revision. */
  findOfVersionOptional(
    workspaceId: number,
    projectId: number,
    version: { uuid: string; revision?: number | undefined },
  ): Promise<Release | null>
  save(workspaceId: number, projectId: number, release: Release & { apiKeyId: number }): Promise<void>
}

interface AddedRelease extends Pick<Release, 'kind'> {
  caller: Caller
  project: Pick<Project, 'id'>
  version: Pick<ReleasedVersion, 'id' | 'uuid' | 'number' | 'title' | 'revision'>
  at: Date
  reason?: string | undefined
  overrides?: readonly OverriddenGate[] | undefined
  /** The release before this one, if the caller has read it. */
  latest?: Release
  /** The way back that a rollback takes over. Default: a rollback returns to the release before this one. */
  restored?: Pick<Release, 'returnsTo'>
}

/** Must follow the move or the edit in the same transaction. */
export async function addRelease(
  { releases }: { releases: ReleaseStore },
  { caller, project, version, kind, at, reason, overrides = [], restored, ...known }: AddedRelease,
): Promise<Release> {
  const { workspaceId, author, apiKeyId } = caller
  const latest = known.latest ?? (await releases.findLatestOptional(workspaceId, project.id))
  const { id, uuid, number, title, revision } = version
  const release: Release = {
    uuid: randomUUID(),
    seq: (latest?.seq ?? 0) + 1,
    kind,
    version: { id, uuid, number, title, revision },
    from: latest?.version ?? null,
    isCurrent: true,
    returnsTo: restored ? restored.returnsTo : (latest?.seq ?? null),
    author,
    reason: reason || null,
    overrides,
    createdAt: at,
  }
  await releases.save(workspaceId, project.id, { ...release, apiKeyId })
  return release
}

/** A verdict that a publication overrode. Its release keeps it. */
export type OverriddenGate = Pick<GateVerdict, 'path' | 'verdict' | 'code' | 'message' | 'experimentUuid'>

export function toOverridden({ path, verdict, code, message, experimentUuid }: GateVerdict): OverriddenGate {
  return { path, verdict, code, message, experimentUuid }
}
