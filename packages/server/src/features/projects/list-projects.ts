/** Lists the projects that a key may see, last edited first. */
import type { Caller, Needs } from '../deps.ts'
import type { Project } from './project.ts'

export async function listProjects(deps: Needs<'stores'>, { caller }: { caller: Caller }): Promise<Project[]> {
  const projects = await deps.stores.projects.list(caller.workspaceId)
  return projects.filter((project) => caller.projectId === null || project.id === caller.projectId)
}
