import type { ApiPromise, Change, Stet, Version, Versions } from '../index.ts'

/** `latitude.versions`, with the published clients' argument order. */
export interface LatitudeVersions extends Pick<Versions, 'create'> {
  /**
   * Returns one version. Pass a version's uuid, or `live`.
   *
   * @example const live = await latitude.versions.get(1, 'live')
   */
  get(projectId: number, versionUuid: string): ApiPromise<Version>
  /**
   * Lists all versions of a project. Default: the client's project.
   *
   * @example const versions = await latitude.versions.getAll(1)
   */
  getAll(projectId?: number): ApiPromise<Version[]>
  /**
   * Applies all changes to a draft, or none.
   *
   * @example
   * await latitude.versions.push(1, draft.uuid, [{ path: 'support/reply', content: text, status: 'modified' }])
   */
  push(projectId: number, baseCommitUuid: string, changes: readonly Change[]): ApiPromise<{ commitUuid: string }>
}

export function latitudeVersions({ versions }: Stet): LatitudeVersions {
  return {
    create: versions.create.bind(versions),
    get: (projectId, versionUuid) => versions.get(versionUuid, { projectId }),
    getAll: (projectId) => versions.list(projectId === undefined ? {} : { projectId }),
    push: (projectId, baseCommitUuid, changes) => versions.push(baseCommitUuid, changes, { projectId }),
  }
}
