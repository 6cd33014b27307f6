/** The frame of every write in a project: one writer at a time, and nobody reads what was before once it is answered. */
import { refuse } from '../../shared/app-error.ts'
import type { LogFields } from '../../shared/logger.ts'
import type { Caller, Needs, Project, Stores, Version } from '../deps.ts'
import { assertVisible, projectScope } from './version-ref.ts'

export interface ProjectWriter {
  stores: Stores
  project: Project
  /** The instant of the whole write. */
  at: Date
  /** Says that something in the version was changed. */
  touch(version: Pick<Version, 'id'>): Promise<void>
  /** A line for the log that is written after the commit, and only then. */
  audit(event: string, fields: LogFields): void
}

/**
 * Runs `work` in a transaction that holds the project's row: writers read what the one before them wrote.
 * @throws AppError NotFoundError `Project not found`.
 */
export async function changeProject<T>(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'log'>,
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
    for (const [event, fields] of lines) deps.log.info(event, fields)
    return result
  } finally {
    // After a failure too: a connection that broke during the commit does not say whether it happened.
    deps.liveCache.drop(projectScope(projectId))
  }
}
