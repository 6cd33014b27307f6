import type {
  ChecksQuery,
  CreateVersionBody,
  DiffVersionsQuery,
  ImportVersionBody,
  ListVersionsQuery,
  PublishVersionBody,
  PushChangesBody,
  UpdateVersionBody,
} from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { InProject } from '../options.ts'
import { writePrompts } from '../prompts/write-prompts.ts'
import type { Api } from '../transport/api.ts'
import type {
  Change,
  CreatedVersion,
  PushResult,
  ReleaseChecks,
  RevertResult,
  UpdateResult,
  Version,
  VersionDiff,
  VersionTree,
} from '../types.ts'

/**
 * A project's versions: drafts, which you can change, and merged versions, one of which is live.
 *
 * @example
 * const draft = await stet.versions.create('friendlier replies')
 * await stet.versions.push(draft.uuid, [{ path: 'support/reply', status: 'modified', content }])
 * await stet.versions.publish(draft.uuid)
 */
export class Versions {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists drafts first, then merged versions, newest first. With `deleted`, also drafts that can still be restored.
   *
   * @example const drafts = await stet.versions.list({ status: 'draft' })
   */
  list(o: InProject & ListVersionsQuery = {}): ApiPromise<Version[]> {
    return this.#api.call('versions.list', {}, o)
  }

  /**
   * Returns one version. Pass a version's uuid, or `live`.
   *
   * @example const { uuid, version } = await stet.versions.get('live')
   */
  get(versionUuid: string, o: InProject = {}): ApiPromise<Version> {
    return this.#api.call('versions.get', { versionUuid }, o)
  }

  /**
   * Creates a draft based on the live version. Options fill and publish it in the same step, or take the draft that
   * already has the name; a refusal leaves nothing behind. With `merge`, the server merges the changes as in a push.
   * Publishing also needs the key scope `publish`.
   *
   * @example
   * const draft = await stet.versions.create('friendlier replies')
   * const { contentHash: baseHash } = await stet.prompts.get('support/reply')
   * const changes = [{ path: 'support/reply', status: 'modified' as const, content: text, baseHash }]
   * await stet.versions.create('pull request 7', { reuse: true, replace: true, changes })
   */
  create(name: string, o: InProject & Omit<CreateVersionBody, 'name'> = {}): ApiPromise<CreatedVersion> {
    return writePrompts(this.#api, 'versions.create', { name }, o)
  }

  /**
   * Renames a draft, or changes its notes.
   *
   * @example await stet.versions.update(draft.uuid, { name: 'friendlier replies, without emoji' })
   */
  update(versionUuid: string, i: UpdateVersionBody, o: InProject = {}): ApiPromise<Version> {
    return this.#api.call('versions.update', { ...i, versionUuid }, o)
  }

  /**
   * Deletes a draft. Its conversations stay, and `restore` brings it back within 30 days.
   *
   * @example await stet.versions.delete(draft.uuid)
   */
  delete(versionUuid: string, o: InProject = {}): ApiPromise<Version> {
    return writePrompts(this.#api, 'versions.delete', { versionUuid }, o)
  }

  /**
   * Restores a deleted draft with its changes.
   *
   * @example await stet.versions.restore(draft.uuid)
   */
  restore(versionUuid: string, o: InProject = {}): ApiPromise<Version> {
    return this.#api.call('versions.restore', { versionUuid }, o)
  }

  /**
   * Makes a draft the live version. Rejects with ConflictError if the live version changed the same prompts. In this
   * case, publish with `merge`, push the merged texts with `liveHash`, or publish with `force`.
   *
   * @example const { version } = await stet.versions.publish(draft.uuid, { description: 'Warmer tone' })
   */
  publish(versionUuid: string, o: InProject & PublishVersionBody = {}): ApiPromise<Version> {
    return writePrompts(this.#api, 'versions.publish', { versionUuid }, o)
  }

  /**
   * Applies changes to a draft atomically. An outdated `baseHash` or `liveHash` rejects with ConflictError. With `merge`,
   * the server merges by line, and rejects only overlapping changes.
   *
   * @example
   * const { contentHash } = await stet.prompts.get('support/reply')
   * await stet.versions.push(draft.uuid, [
   *   { path: 'support/reply', status: 'modified', content: text, baseHash: contentHash },
   *   { path: 'support/old', status: 'deleted' },
   * ])
   */
  push(
    versionUuid: string,
    changes: readonly Change[],
    o: InProject & Pick<PushChangesBody, 'merge'> = {},
  ): ApiPromise<PushResult> {
    // The caller may change the array before the request is sent.
    return writePrompts(this.#api, 'versions.push', { versionUuid, changes: [...changes] }, o)
  }

  /**
   * Merges live's changes into a draft by line. Prompts whose changes overlap are not changed, and listed in `conflicts`.
   *
   * @example const { updated, conflicts } = await stet.versions.updateFromEnvironment(draft.uuid)
   */
  updateFromEnvironment(
    versionUuid: string,
    o: InProject & { paths?: readonly string[] } = {},
  ): ApiPromise<UpdateResult> {
    return writePrompts(this.#api, 'versions.updateFromEnvironment', { versionUuid }, o)
  }

  /**
   * Discards the changes of a draft: all of them, or those at the given paths.
   *
   * @example const { reverted } = await stet.versions.revert(draft.uuid, { paths: ['support/reply'] })
   */
  revert(versionUuid: string, o: InProject & { paths?: readonly string[] } = {}): ApiPromise<RevertResult> {
    return writePrompts(this.#api, 'versions.revert', { versionUuid }, o)
  }

  /**
   * Lists the changes in a version against `base`. Default: live for a draft, the previous number for a merged version.
   *
   * @example const { changes } = await stet.versions.diff(draft.uuid)
   */
  diff(versionUuid: string, o: InProject & DiffVersionsQuery = {}): ApiPromise<VersionDiff> {
    return this.#api.call('versions.diff', { versionUuid }, o)
  }

  /**
   * Lists a version's prompts without their texts. A draft's tree shows what it changes, deletions included.
   *
   * @example
   * const { items } = await stet.versions.tree(draft.uuid)
   * const changed = items.filter(({ change }) => change !== null)
   */
  tree(versionUuid: string, o: InProject = {}): ApiPromise<VersionTree> {
    return this.#api.call('versions.tree', { versionUuid }, o)
  }

  /**
   * Lists what would refuse the publication of a draft now. `block` takes a check that you publish with.
   *
   * @example const { verdict, conflicts } = await stet.versions.checks(draft.uuid, { block: 'configuration' })
   */
  checks(versionUuid: string, o: InProject & ChecksQuery = {}): ApiPromise<ReleaseChecks> {
    return this.#api.call('versions.checks', { versionUuid }, o)
  }

  /**
   * Gives a draft the history of a version of another installation. With `mergedAt`, the draft also becomes live,
   * without being compiled; `revisions` repeats its forced edits. Needs the key scope `admin`. Rejects with
   * ConflictError if the uuid is in use.
   *
   * @example
   * const source = new Stet({ baseUrl: 'https://old.example.com', apiKey: process.env['OLD_STET_API_KEY'] })
   * const { uuid, title, authorName, createdAt } = await source.versions.get('live')
   * const draft = await stet.versions.create(title)
   * await stet.versions.import(draft.uuid, { uuid, title, authorName, createdAt, mergedAt: createdAt })
   */
  import(versionUuid: string, i: ImportVersionBody, o: InProject = {}): ApiPromise<Version> {
    return writePrompts(this.#api, 'versions.import', { ...i, versionUuid }, o)
  }
}
