import type { ApiPromise } from './api-promise.ts'
import type { RequestOptions, StetOptions } from './options.ts'
import type { PromptRegistry } from './prompt-registry.ts'
import { ApiKeys } from './resources/api-keys.ts'
import { Conversations } from './resources/conversations.ts'
import { Environments } from './resources/environments.ts'
import type { Evaluations } from './resources/evaluations.ts'
import type { Examples } from './resources/examples.ts'
import type { Experiments } from './resources/experiments.ts'
import { later } from './resources/later.ts'
import { Logs } from './resources/logs.ts'
import { Projects } from './resources/projects.ts'
import { Prompts } from './resources/prompts.ts'
import { ProviderKeys } from './resources/provider-keys.ts'
import { Providers } from './resources/providers.ts'
import { Runs } from './resources/runs.ts'
import { Versions } from './resources/versions.ts'
import { Api } from './transport/api.ts'
import { derived, resolveSettings } from './transport/settings.ts'
import type { Query } from './transport/url.ts'
import type { Health, Me } from './types.ts'

/**
 * The client. STET_API_KEY, STET_BASE_URL, STET_PROJECT_ID and STET_LOG set the options that you omit.
 *
 * @example
 * const stet = new Stet({ projectId: 1 })
 * const result = await stet.prompts.run('support/reply', { parameters: { ticket: 'Where is my order?' } })
 * console.log(result.response.text)
 */
export class Stet<R = PromptRegistry> {
  readonly #options: StetOptions
  readonly #api: Api
  /** The server URL including the API prefix. */
  readonly baseUrl: string
  readonly prompts: Prompts<R>
  readonly versions: Versions
  readonly environments: Environments
  readonly runs: Runs
  readonly conversations: Conversations
  readonly evaluations: Evaluations
  readonly examples: Examples
  readonly experiments: Experiments
  readonly logs: Logs
  readonly projects: Projects
  readonly apiKeys: ApiKeys
  readonly providerKeys: ProviderKeys
  readonly providers: Providers

  constructor(options?: StetOptions)
  constructor(apiKey: string, options?: StetOptions)
  constructor(first?: string | StetOptions, second?: StetOptions) {
    // The first argument may be an unset environment variable, which must not override the options.
    this.#options = typeof first === 'object' ? first : ({ ...second, apiKey: first ?? second?.apiKey } as StetOptions)
    const api = new Api(resolveSettings(this.#options))
    this.#api = api
    this.baseUrl = api.settings.baseUrl
    this.prompts = new Prompts<R>(api)
    this.versions = new Versions(api)
    this.environments = new Environments(api)
    this.runs = new Runs(api)
    this.evaluations = later(async () => new (await import('./resources/evaluations.ts')).Evaluations(api))
    this.conversations = new Conversations(api, this.prompts, this.runs, this.evaluations)
    this.examples = later(async () => new (await import('./resources/examples.ts')).Examples(api))
    this.experiments = later(async () => new (await import('./resources/experiments.ts')).Experiments(api))
    this.logs = new Logs(api)
    this.projects = new Projects(api)
    this.apiKeys = new ApiKeys(api)
    this.providerKeys = new ProviderKeys(api)
    this.providers = new Providers(api)
  }

  /**
   * Returns a client with some options changed. Both clients share the cache.
   *
   * @example const patient = stet.withOptions({ timeout: 120_000, maxRetries: 5 })
   */
  withOptions(o: Partial<StetOptions>): Stet<R> {
    return new Stet<R>(derived(this.#api.settings, this.#options, o))
  }

  /**
   * Returns a client with the same options for another project.
   *
   * @example await stet.project(2).prompts.run('support/reply')
   */
  project(projectId: number | string): Stet<R> {
    return this.withOptions({ projectId })
  }

  /**
   * Returns a client with the same options for another version.
   *
   * @example await stet.version(draft.uuid).prompts.list()
   */
  version(versionUuid: string): Stet<R> {
    return this.withOptions({ versionUuid })
  }

  /**
   * Returns the API key in use, its workspace and its rate limit.
   *
   * @example const { apiKey, workspace, rateLimit } = await stet.me()
   */
  me(o: RequestOptions = {}): ApiPromise<Me> {
    return this.#api.call('me', {}, o)
  }

  /**
   * Checks that the server is up. This call needs no API key.
   *
   * @example const { status, version } = await stet.health()
   */
  health(o: RequestOptions = {}): ApiPromise<Health> {
    return this.#api.call('health', {}, o)
  }

  /**
   * Calls any route below the API prefix, for example a route without a client method.
   *
   * @example
   * const merged = await stet.request<Version[]>('GET', '/projects/1/versions', { query: { status: 'merged' } })
   */
  request<T = unknown>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    init: { body?: unknown; query?: Query } & RequestOptions = {},
  ): ApiPromise<T> {
    return this.#api.request<T>(method, path, init)
  }
}
