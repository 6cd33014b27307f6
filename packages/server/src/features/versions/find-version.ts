/** Gives one version by its uuid or as `live`. */
import type { Needs, Version } from '../deps.ts'
import { resolveVersion, type VersionAddress } from '../documents/version-ref.ts'

/** @throws AppError NotFoundError for the project, then for the version. */
export async function findVersion(deps: Needs<'stores' | 'liveCache'>, input: VersionAddress): Promise<Version> {
  return (await resolveVersion(deps, input)).version
}
