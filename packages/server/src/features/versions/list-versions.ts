/** Lists the versions of a project: drafts first, newest first, then merged ones by falling number. */
import type { Caller, Needs, Version } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'

export interface ListVersionsInput {
  caller: Caller
  projectId: number
  status?: 'draft' | 'merged'
}

/** @throws AppError NotFoundError `Project not found`. */
export async function listVersions(deps: Needs<'stores' | 'liveCache'>, input: ListVersionsInput): Promise<Version[]> {
  const project = await findProject(deps, input.caller, input.projectId)
  return deps.stores.versions.list(input.caller.workspaceId, project.id, input.status)
}
