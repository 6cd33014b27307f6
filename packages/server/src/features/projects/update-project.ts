/** Updates a project. Absent fields stay unchanged. */

import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import type { Project, ProjectChange } from './project.ts'

export interface UpdateProjectInput {
  caller: Caller
  projectId: number
  name?: string
  /** `''` clears the default, also for `defaultModel`. */
  defaultProvider?: string
  defaultModel?: string
  /** Null restores the server's setting. */
  retentionDays?: number | null
}

export async function updateProject(
  deps: Needs<'transaction' | 'liveCache' | 'clock'>,
  { caller, projectId, name, defaultProvider, defaultModel, retentionDays }: UpdateProjectInput,
): Promise<Project> {
  if (caller.projectId !== null && caller.projectId !== projectId) throw refuse('unknown-project')
  const change: ProjectChange = {
    ...(name === undefined ? {} : { name }),
    ...(defaultProvider === undefined ? {} : { defaultProvider: defaultProvider || null }),
    ...(defaultModel === undefined ? {} : { defaultModel: defaultModel || null }),
    ...(retentionDays === undefined ? {} : { retentionDays }),
  }
  try {
    return await deps.transaction(async (stores) => {
      const project = await stores.projects.lock(caller.workspaceId, projectId)
      const changed = project && (await stores.projects.update(caller.workspaceId, projectId, change, deps.clock.now()))
      if (!changed) throw refuse('unknown-project')
      return changed
    })
  } finally {
    deps.liveCache.drop(`project:${projectId}`)
  }
}
