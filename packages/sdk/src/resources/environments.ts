import type { ListReleasesQuery, RollbackBody } from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { InProject } from '../options.ts'
import { writePrompts } from '../prompts/write-prompts.ts'
import type { Api } from '../transport/api.ts'
import type { Release, RollbackResult } from '../types.ts'
import { type PagePromise, pagePromise } from './page.ts'

/**
 * Environments are the names under which applications read a version. Each project has one, `live`.
 *
 * @example const { release } = await stet.environments.rollback('live', { reason: 'Too many complaints' })
 */
export class Environments {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists what an environment has served, newest first. Iterating yields the items of all pages.
   *
   * @example
   * for await (const { seq, kind, version, author } of stet.environments.releases('live')) console.log(seq, kind, version.number, author.name)
   */
  releases(environment: string, o: InProject & ListReleasesQuery = {}): PagePromise<Release> {
    return pagePromise((cursor) => this.#api.call('environments.releases', { environment, cursor }, o), o.cursor)
  }

  /**
   * Serves exactly the texts of an earlier release again. Rejects with ConflictError if there is none, or if the
   * environment does not serve `expectedVersionUuid`.
   *
   * @example
   * const { environment } = await stet.environments.rollback('live', { reason: 'Too many complaints' })
   * console.log(environment.version?.number)
   */
  rollback(environment: string, o: InProject & RollbackBody = {}): ApiPromise<RollbackResult> {
    return writePrompts(this.#api, 'environments.rollback', { environment }, o)
  }
}
