/** Projects that were deleted while rows of theirs are left: whatever is found by its own id may belong to one. */
import type { Needs } from '../deps.ts'

/** The part of the live cache that deleting a project drops. */
export const deletedProjectsScope = 'deleted-projects'

/** Costs no statement once it is in memory. */
export function deletedProjects(deps: Needs<'stores' | 'liveCache'>): Promise<ReadonlySet<number>> {
  return deps.liveCache.read(deletedProjectsScope, 'ids', async () => new Set(await deps.stores.projects.listDeleted()))
}
