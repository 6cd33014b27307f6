/** Reads the history of an environment. The only environment is `live`. */
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import type { Release } from '../projects/release.ts'

export interface EnvironmentAddress {
  caller: Caller
  projectId: number
  /** In any letter case. */
  environment: string
}

/** Lists releases in pages, newest first. @throws AppError NotFoundError for the project or the environment. */
export async function listReleases(
  deps: Needs<'stores' | 'liveCache'>,
  input: EnvironmentAddress & { limit?: number; cursor?: string },
): Promise<{ items: Release[]; nextCursor: string | null }> {
  const { caller, environment, limit = 25, cursor } = input
  const { id } = await findProject(deps, caller, input.projectId)
  assertEnvironment(environment)
  const before = cursor === undefined ? {} : { before: Number(cursor) }
  // One extra row shows whether there is a next page.
  const found = await deps.stores.releases.list(caller.workspaceId, id, { ...before, limit: limit + 1 })
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: last ? String(last.seq) : null }
}

/** @throws AppError NotFoundError for any other name than `live`. */
export function assertEnvironment(name: string): void {
  if (name.toLowerCase() !== 'live') throw refuse('unknown-environment')
}
