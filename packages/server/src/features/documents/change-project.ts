import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { LogFields } from '../../shared/telemetry.ts'
import type { Needs, Stores } from '../deps.ts'
import type { Project, Version } from '../projects/project.ts'
import { assertVisible, projectScope } from './version-ref.ts'

export interface ProjectWriter {
  stores: Stores
  project: Project
  at: Date
  touch(version: Pick<Version, 'id'>): Promise<void>
  /** Queues an audit event that is logged after the commit. */
  audit(event: string, fields: LogFields): void
}

/**
 * Locks the project's row in a transaction, so that writers see each other's changes.
 * @throws AppError NotFoundError
 */
export async function changeProject<T>(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  { caller, projectId }: { caller: Caller; projectId: number },
  work: (writer: ProjectWriter) => Promise<T>,
): Promise<T> {
  assertVisible(caller, projectId)
  const lines: [event: string, fields: LogFields][] = []
  try {
    const result = await deps.transaction(async (stores) => {
      const project = await stores.projects.lock(caller.workspaceId, projectId)
      if (!project) throw refuse('unknown-project')
      const at = deps.clock.now()
      return work({
        stores,
        project,
        at,
        async touch(version) {
          await stores.versions.touch(caller.workspaceId, projectId, version.id, at)
          await stores.projects.touch(caller.workspaceId, projectId, at)
        },
        audit: (event, fields) => void lines.push([event, fields]),
      })
    })
    for (const [event, fields] of lines) deps.logger.info(event, fields)
    return result
  } finally {
    // Drop the cache after a failure too: if the connection broke during the commit, the outcome is unknown.
    await deps.liveCache.drop(projectScope(projectId))
  }
}
