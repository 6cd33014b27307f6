import type { CreateProjectBody, UpdateProjectBody } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import type { Project, ProjectChange, Version } from './project.ts'

export interface CreatedProject {
  project: Project
  version: Version
}

/** @throws AppError ForbiddenError for a key that is restricted to one project. */
export async function createProject(
  deps: Needs<'transaction' | 'clock'>,
  { caller, ...input }: CreateProjectBody & { caller: Caller },
): Promise<CreatedProject> {
  if (caller.projectId !== null) throw refuse('restricted-key')
  const { workspaceId, author } = caller
  const at = deps.clock.now()
  return deps.transaction((stores) => addProject(stores, { ...input, workspaceId, authorId: author.id, at }))
}

/** For callers with an open transaction, such as the creation of a workspace with its project. */
export async function addProject(
  stores: Pick<Stores, 'projects' | 'versions'>,
  input: CreateProjectBody & { workspaceId: number; authorId: number; at: Date },
): Promise<CreatedProject> {
  const { workspaceId, authorId, at, name } = input
  const project = await stores.projects.create(workspaceId, {
    name,
    defaultProvider: input.defaultProvider || null,
    defaultModel: input.defaultModel || null,
    retentionDays: input.retentionDays ?? null,
    at,
  })
  const draft = { title: 'Initial version', authorId, parentVersionUuid: null, at }
  return { project, version: await stores.versions.create(workspaceId, project.id, draft) }
}

/** Absent fields stay unchanged. An empty default is cleared. */
export async function updateProject(
  deps: Needs<'transaction' | 'liveCache' | 'clock'>,
  { caller, projectId, ...body }: UpdateProjectBody & { caller: Caller; projectId: number },
): Promise<Project> {
  const { name, defaultProvider, defaultModel, retentionDays, keepParameters } = body
  if (caller.projectId !== null && caller.projectId !== projectId) throw refuse('unknown-project')
  const change: ProjectChange = defined({
    name,
    defaultProvider: defaultProvider === undefined ? undefined : defaultProvider || null,
    defaultModel: defaultModel === undefined ? undefined : defaultModel || null,
    retentionDays,
    keepParameters,
  })
  try {
    return await deps.transaction(async (stores) => {
      const project = await stores.projects.lock(caller.workspaceId, projectId)
      const changed = project && (await stores.projects.update(caller.workspaceId, projectId, change, deps.clock.now()))
      if (!changed) throw refuse('unknown-project')
      return changed
    })
  } finally {
    await deps.liveCache.drop(`project:${projectId}`)
  }
}
