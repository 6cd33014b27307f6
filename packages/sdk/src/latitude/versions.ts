import type { ApiPromise, Change, Stet, Version, Versions } from '../index.ts'

/** `latitude.versions`, with the calls of the published clients in the same positions. */
export interface LatitudeVersions extends Pick<Versions, 'create'> {
  /**
   * One version; `live` is allowed.
   *
   * @example const live = await latitude.versions.get(1, 'live')
   */
  get(projectId: number, versionUuid: string): ApiPromise<Version>
  /**
   * All versions of a project. Default: the client's project.
   *
   * @example const versions = await latitude.versions.getAll(1)
   */
  getAll(projectId?: number): ApiPromise<Version[]>
  /**
   * Changes prompts of a draft in one transaction.
   *
   * @example
   * await latitude.versions.push(1, draft.uuid, [{ path: 'support/reply', content: text, status: 'modified' }])
   */
  push(projectId: number, baseCommitUuid: string, changes: readonly Change[]): ApiPromise<{ commitUuid: string }>
}

/** The versions of the modern client in their old form. */
export function latitudeVersions({ versions }: Stet): LatitudeVersions {
  return {
    create: versions.create.bind(versions),
    get: (projectId, versionUuid) => versions.get(versionUuid, { projectId }),
    getAll: (projectId) => versions.list(projectId === undefined ? {} : { projectId }),
    push: (projectId, baseCommitUuid, changes) => versions.push(baseCommitUuid, changes, { projectId }),
  }
}
