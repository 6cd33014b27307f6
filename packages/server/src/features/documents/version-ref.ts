import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs, Stores } from '../deps.ts'
import type { Project, Version } from '../projects/project.ts'
import type { EvaluationOwner } from '../templates/template-engine.ts'

export interface VersionAddress {
  caller: Caller
  projectId: number
  /** A uuid or `live`, in any letter case. */
  versionRef: string
  signal?: AbortSignal | undefined
  isRun?: boolean
}

type Reader = Pick<Caller, 'workspaceId' | 'projectId'> & Partial<Pick<Caller, 'apiKeyId'>>

export type ReadableVersion = Omit<VersionAddress, 'caller'> & { caller: Reader }

export const largestId = 2_147_483_647

export async function findProject(
  deps: Needs<'stores' | 'liveCache'>,
  caller: Reader,
  projectId: number,
): Promise<Project> {
  assertVisible(caller, projectId)
  return deps.liveCache.read(projectScope(projectId), `project:${caller.workspaceId}`, async () => {
    const project = await deps.stores.projects.findOptional(caller.workspaceId, projectId)
    if (!project) throw refuse('unknown-project')
    return project
  })
}

export async function resolveVersion(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, projectId, versionRef }: ReadableVersion,
): Promise<{ project: Project; version: Version }> {
  const project = await findProject(deps, caller, projectId)
  const version = await deps.liveCache.read(projectScope(projectId), `version:${versionRef.toLowerCase()}`, () =>
    findVersionRow(deps.stores, { caller, projectId, versionRef }),
  )
  return { project, version }
}

/** Reads from the given stores, which may be a transaction's. @throws AppError NotFoundError. */
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

/** @throws AppError NotFoundError for an invalid id, or for a key that is restricted to another project. */
export function assertVisible(caller: Reader, projectId: number): void {
  const isPossible = Number.isInteger(projectId) && projectId > 0 && projectId <= largestId
  if (!isPossible || (caller.projectId !== null && caller.projectId !== projectId)) throw refuse('unknown-project')
}

export function ownerOf({ caller, signal, isRun }: Omit<ReadableVersion, 'projectId' | 'versionRef'>): EvaluationOwner {
  const { workspaceId, apiKeyId } = caller
  return { workspaceId, apiKeyId, signal, isRun }
}

/** The cache scope that every change of the project, its versions or its documents drops. */
export function projectScope(projectId: number): string {
  return `project:${projectId}`
}

/** The cache scope that a project's deletion drops at its start and at its end. */
export const deletedProjectsScope = 'deleted-projects'

/** Returns the ids of deleted projects that are not yet purged. Lookups by an object's id must exclude them. */
export function deletedProjects(deps: Needs<'stores' | 'liveCache'>): Promise<ReadonlySet<number>> {
  return deps.liveCache.read(deletedProjectsScope, 'ids', async () => new Set(await deps.stores.projects.listDeleted()))
}
