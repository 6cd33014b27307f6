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
  /** Reads a merged version as it was at this revision. Only reads set it. */
  revision?: number | undefined
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

/** @param text an id, or a name that only one project has. @throws AppError NotFoundError */
export async function projectNamed(
  deps: Needs<'stores' | 'liveCache'>,
  caller: Caller,
  text: string,
): Promise<Project> {
  if (/^[1-9]\d*$/.test(text)) return findProject(deps, caller, Number(text))
  const [found, ...others] = (await listVisible(deps, caller)).filter(({ name }) => name === text)
  if (!found || others.length > 0) throw refuse('unknown-project')
  return found
}

/** Returns the projects that the key may see, by id. */
export async function listVisible({ stores }: Needs<'stores'>, { workspaceId, projectId }: Caller): Promise<Project[]> {
  const projects = await stores.projects.list(workspaceId, projectId)
  return projects.sort((one, other) => one.id - other.id)
}

/** The project's name if it names only this project and is one segment. Otherwise the id. */
export function segmentOf({ id, name }: Project, projects: readonly Project[]): string {
  const isUnique = projects.every((other) => other.name !== name || other.id === id)
  return isUnique && !/^\d*$/.test(name) && !name.includes('/') ? name : String(id)
}

export async function resolveVersion(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, projectId, versionRef, revision }: ReadableVersion,
): Promise<{ project: Project; version: Version }> {
  const project = await findProject(deps, caller, projectId)
  const version = await deps.liveCache.read(projectScope(projectId), `version:${versionRef.toLowerCase()}`, () =>
    findVersionRow(deps.stores, { caller, projectId, versionRef }),
  )
  return { project, version: revision === undefined ? version : atRevision(version, revision) }
}

/** @throws AppError NotFoundError for a draft, and for a revision that the version does not have. */
function atRevision(version: Version, revision: number): Version {
  if (version.number === null || revision > version.revision) throw refuse('unknown-version')
  const isLive = version.isLive && revision === version.revision
  return { ...version, isLive, revision, asOf: revision }
}

/**
 * Returns a reference as API v3 takes it: the uuid of a published number, any other text unchanged. API v3 itself takes no
 * numbers. @throws AppError NotFoundError for an unknown number.
 */
export async function numberedVersionRef(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, projectId, versionRef }: ReadableVersion,
): Promise<string> {
  if (!/^[1-9]\d{0,9}$/.test(versionRef) || Number(versionRef) > largestId) return versionRef
  const project = await findProject(deps, caller, projectId)
  return deps.liveCache.read(projectScope(project.id), `number:${caller.workspaceId}:${versionRef}`, async () => {
    const version = await deps.stores.versions.findNumberOptional(caller.workspaceId, projectId, Number(versionRef))
    if (!version) throw refuse('unknown-version')
    return version.uuid
  })
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

/** As `findVersionRow`. @throws AppError BadRequestError for a merged version. */
export async function findDraftRow(stores: Stores, input: ReadableVersion): Promise<Version> {
  const version = await findVersionRow(stores, input)
  if (version.number !== null) throw refuse('merged-version')
  return version
}

/** @throws AppError ConflictError if live is no longer the version that the caller expects. */
export function assertServed({ liveVersionUuid }: Project, expected: string | undefined): void {
  if (expected === undefined || expected.toLowerCase() === liveVersionUuid) return
  throw refuse('moved', { current: liveVersionUuid })
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

/** Splits `<uuid>@<revision>`. Any other text with an `@` stays whole, and then names no version. */
export function readVersionRef(text: string): Pick<VersionAddress, 'versionRef' | 'revision'> {
  const [, versionRef, revision] = /^([^@]+)@(0|[1-9]\d{0,8})$/.exec(text) ?? []
  const uuid = versionRef && readUuid(versionRef)
  return uuid ? { versionRef: uuid, revision: Number(revision) } : { versionRef: text }
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
