import type { UpdateProjectBody } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import type { Project, ProjectChange } from './project.ts'

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
