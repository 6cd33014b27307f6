import type {
  CreateProjectBody,
  DeletedProject,
  DeleteProjectBody,
  GateSettingsBody,
  StatsQuery,
  TagUse,
  UpdateProjectBody,
} from '@stet/contract/vocabulary'
import type { ApiPromise } from '../api-promise.ts'
import type { InProject, RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import type { GateSettings, Project, Stats, Version } from '../types.ts'

/**
 * The projects that the API key can access.
 *
 * @example const { project, version } = await stet.projects.create('Support')
 */
export class Projects {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Lists projects, last edited first.
   *
   * @example const names = (await stet.projects.list()).map(({ name }) => name)
   */
  list(o: RequestOptions = {}): ApiPromise<Project[]> {
    return this.#api.call('projects.list', {}, o)
  }

  /**
   * Creates a project with its first draft.
   *
   * @example
   * const { project, version } = await stet.projects.create('Support', { defaultModel: 'gpt-6-sol' })
   * await stet.prompts.create('reply', { projectId: project.id, versionUuid: version.uuid, prompt: 'Hello {{ name }}' })
   */
  create(
    name: string,
    o: RequestOptions & Omit<CreateProjectBody, 'name'> = {},
  ): ApiPromise<{ project: Project; version: Version }> {
    return this.#api.call('projects.create', { name }, o)
  }

  /**
   * Changes only the given fields of a project. `retentionDays: null` restores the server's setting.
   *
   * @example await stet.projects.update(1, { name: 'Customer support' })
   */
  update(projectId: number | string, i: UpdateProjectBody, o: RequestOptions = {}): ApiPromise<Project> {
    return this.#api.call('projects.update', { ...i, projectId }, o)
  }

  /**
   * Permanently deletes a project with its prompts and conversations, and the API keys restricted to the project. Pass
   * the project's name to confirm. Rejects with ConflictError if runs are active.
   *
   * @example await stet.projects.delete(7, { name: 'Support' })
   */
  delete(projectId: number | string, i: DeleteProjectBody, o: RequestOptions = {}): ApiPromise<DeletedProject> {
    return this.#api.call('projects.delete', { ...i, projectId }, o)
  }

  /**
   * Counts the runs of a project: errors, tokens, cost, durations. Default: the last 24 hours, of applications.
   *
   * @example const { series } = await stet.projects.stats(1, { by: 'model', from: '2026-01-01T00:00:00Z' })
   */
  stats(projectId: number | string, o: RequestOptions & StatsQuery = {}): ApiPromise<Stats> {
    return this.#api.call('projects.stats', { projectId }, o)
  }

  /**
   * Lists the tags of a project's conversations of the last 30 days, the most frequent first. Default: the client's
   * project.
   *
   * @example const [mostFrequent] = await stet.projects.tags()
   */
  tags(o: InProject = {}): ApiPromise<TagUse[]> {
    return this.#api.call('projects.tags', {}, o)
  }

  /**
   * Returns what a publication asks of the experiments.
   *
   * @example const { mode, gates } = await stet.projects.gates()
   */
  gates(o: InProject = {}): ApiPromise<GateSettings> {
    return this.#api.call('projects.gates', {}, o)
  }

  /**
   * Replaces all gates of a project.
   *
   * @example await stet.projects.setGates({ mode: 'block', gates: [{ path: '*', evaluations: ['Checks'] }] })
   */
  setGates(i: GateSettingsBody, o: InProject = {}): ApiPromise<GateSettings> {
    return this.#api.call('projects.setGates', i, o)
  }
}
