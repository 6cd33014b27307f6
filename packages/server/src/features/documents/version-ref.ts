/** Finds the project and the version of a request. Foreign, hidden and malformed ids count as unknown. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs, Stores } from '../deps.ts'
import type { Project, Version } from '../projects/project.ts'
import type { EvaluationOwner } from '../templates/template-engine.ts'

export interface VersionAddress {
  caller: Caller
  projectId: number
  /** A uuid in any case, or `live`. */
  versionRef: string
  /** Aborted when the caller has left. */
  signal?: AbortSignal | undefined
  /** See `EvaluationOwner`. */
  isRun?: boolean
}

/** Decides which projects are visible. */
type Reader = Pick<Caller, 'workspaceId' | 'projectId'> & Partial<Pick<Caller, 'apiKeyId'>>

/** A version address with the parts of a caller that reading needs. */
export type ReadableVersion = Omit<VersionAddress, 'caller'> & { caller: Reader }

const largestId = 2_147_483_647

/** @throws AppError NotFoundError `Project not found`. */
export async function findProject(
  deps: Needs<'stores' | 'liveCache'>,
  caller: Reader,
  projectId: number,
): Promise<Project> {
  assertVisible(caller, projectId)
  return deps.liveCache.read(projectScope(projectId), projectKey(caller), async () => {
    const project = await deps.stores.projects.findOptional(caller.workspaceId, projectId)
    if (!project) throw refuse('unknown-project')
    return project
  })
}

/** @throws AppError NotFoundError for the project, then for the version. */
export async function resolveVersion(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, projectId, versionRef }: ReadableVersion,
): Promise<{ project: Project; version: Version }> {
  const project = await findProject(deps, caller, projectId)
  const version = await deps.liveCache.read(projectScope(projectId), versionKey(versionRef), () =>
    findVersionRow(deps.stores, { caller, projectId, versionRef }),
  )
  return { project, version }
}

/** Reads the version from the given stores, also within a transaction. @throws AppError NotFoundError. */
export async function findVersionRow(
  stores: Stores,
  { caller, projectId, versionRef }: ReadableVersion,
): Promise<Version> {
  if (versionRef.toLowerCase() === 'live') {
    const live = await stores.versions.findLiveOptional(caller.workspaceId, projectId)
    if (!live) throw refuse('nothing-live')
    return live
  }
  const uuid = readUuid(versionRef)
  const version = uuid && (await stores.versions.findOptional(caller.workspaceId, projectId, uuid))
  if (!version) throw refuse('unknown-version')
  return version
}

/** @throws AppError NotFoundError if the key may not see the project or the id is impossible. */
export function assertVisible(caller: Reader, projectId: number): void {
  const isPossible = Number.isInteger(projectId) && projectId > 0 && projectId <= largestId
  if (!isPossible || (caller.projectId !== null && caller.projectId !== projectId)) throw refuse('unknown-project')
}

function projectKey({ workspaceId }: Reader): string {
  return `project:${workspaceId}`
}

function versionKey(versionRef: string): string {
  return `version:${versionRef.toLowerCase()}`
}

/** The workspace and key that a request's compilations count against. */
export function ownerOf({ caller, signal, isRun }: Omit<ReadableVersion, 'projectId' | 'versionRef'>): EvaluationOwner {
  const { workspaceId, apiKeyId } = caller
  return { workspaceId, apiKeyId, signal, isRun }
}

/** The part of the live cache that every write in a project drops. */
export function projectScope(projectId: number): string {
  return `project:${projectId}`
}

/** The part of the live cache that deleting a project drops. */
export const deletedProjectsScope = 'deleted-projects'

/** Deleted projects that still have rows: anything found by its own id may belong to one. Costs no statement once cached. */
export function deletedProjects(deps: Needs<'stores' | 'liveCache'>): Promise<ReadonlySet<number>> {
  return deps.liveCache.read(deletedProjectsScope, 'ids', async () => new Set(await deps.stores.projects.listDeleted()))
}
