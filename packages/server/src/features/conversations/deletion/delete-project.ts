/** Readers and restricted keys lose access immediately. A background job purges the rows. */

import { refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import { keyScope } from '../../access/api-key.ts'
import type { Needs } from '../../deps.ts'
import { assertVisible, deletedProjectsScope, projectScope } from '../../documents/version-ref.ts'

/**
 * `name` must be the project's name, which guards against a mistyped id.
 * @throws AppError NotFoundError; BadRequestError for another name; ConflictError while runs are active.
 */
export async function deleteProject(
  deps: Needs<'transaction' | 'liveCache' | 'runs' | 'deletions' | 'logger'>,
  { caller, projectId, name }: { caller: Caller; projectId: number; name: string },
): Promise<void> {
  const { workspaceId, apiKeyId } = caller
  assertVisible(caller, projectId)
  let keyHashes: string[] = []
  try {
    await deps.transaction(async ({ projects }) => {
      const project = await projects.lock(workspaceId, projectId)
      if (!project) throw refuse('unknown-project')
      if (project.name !== name) throw refuse('wrong-project-name')
      // Runs that are not stored yet exist only in this process.
      const isActiveHere = deps.runs.active.list().some((run) => run.view().projectId === projectId)
      if (isActiveHere || (await projects.hasActiveRuns(projectId))) throw refuse('project-busy')
      keyHashes = await projects.markDeleted(projectId)
    })
    deps.logger.info('audit.project-deleted', { workspaceId, projectId, by: apiKeyId })
  } finally {
    // Drops the caches after a failure too: if the connection broke during the commit, the outcome is unknown.
    for (const scope of [deletedProjectsScope, projectScope(projectId)]) await deps.liveCache.drop(scope)
    for (const hash of keyHashes) await deps.liveCache.drop(keyScope(hash))
    deps.deletions.work.wake()
  }
}
