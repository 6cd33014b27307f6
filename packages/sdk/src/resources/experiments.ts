import type {
  AddedScores,
  AddScoresBody,
  CreateExperimentBody,
  Experiment,
  ExperimentRow,
  ListExperimentItemsQuery,
  ListExperimentsQuery,
  Report,
  ReportQuery,
  ResumeExperimentBody,
} from '@stet/contract/vocabulary'
import { ApiPromise } from '../api-promise.ts'
import type { InProject, RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import { type PagePromise, pagePromise } from './page.ts'

/** Milliseconds between two looks at a running experiment. */
const LOOK_MS = 2_000

/**
 * Experiments run the arms of a prompt over its examples. The client loads this part when it is first used.
 *
 * @example
 * const { uuid } = await stet.experiments.create({
 *   path: 'support/reply',
 *   arms: [{ versionUuid: 'live' }, { versionUuid: 'draft' }],
 * })
 * const { state, counts } = await stet.experiments.wait(uuid)
 */
export class Experiments {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Starts an experiment. Rejects with UnprocessableEntityError if rows do not fit or there are too many runs, and with
   * ConflictError if the same arms run over the same rows.
   *
   * @example
   * const arms = [{ versionUuid: 'live' }, { versionUuid: draft.uuid, overrides: { model: 'gpt-6-luna' } }]
   * const { uuid, estimateUsd } = await stet.experiments.create({ path: 'support/reply', arms, tag: 'smoke' })
   */
  create(i: CreateExperimentBody, o: InProject = {}): ApiPromise<Experiment> {
    return this.#api.call('experiments.create', i, o)
  }

  /**
   * Lists the experiments of the project, newest first. Iterating the result yields all of them.
   *
   * @example for await (const { uuid, state } of stet.experiments.list({ documentUuid })) console.log(uuid, state)
   */
  list(o: ListExperimentsQuery & InProject = {}): PagePromise<Experiment> {
    return pagePromise((cursor) => this.#api.call('experiments.list', { cursor }, o), o.cursor)
  }

  /**
   * Returns an experiment with its cost and the number of its items by state.
   *
   * @example const { state, costUsd, counts } = await stet.experiments.get(uuid)
   */
  get(experimentUuid: string, o: RequestOptions = {}): ApiPromise<Experiment> {
    return this.#api.call('experiments.get', { experimentUuid }, o)
  }

  /**
   * Lists the rows, each with the items of all arms. Iterating the result yields all of them.
   *
   * @example
   * for await (const { name, items } of stet.experiments.items(uuid, { filter: 'broke' })) console.log(name, items)
   */
  items(experimentUuid: string, o: ListExperimentItemsQuery & RequestOptions = {}): PagePromise<ExperimentRow> {
    return pagePromise((cursor) => this.#api.call('experiments.items', { experimentUuid, cursor }, o), o.cursor)
  }

  /**
   * Returns what broke and what was fixed against the baseline. `evaluation` chooses one of the experiment's evaluations.
   *
   * @example
   * const { pairs: [pair] } = await stet.experiments.report(uuid)
   * console.log(pair?.words.counts, pair?.verdict)
   */
  report(experimentUuid: string, o: ReportQuery & RequestOptions = {}): ApiPromise<Report> {
    return this.#api.call('experiments.report', { experimentUuid }, o)
  }

  /**
   * Stops an experiment and its active items.
   *
   * @example const { counts } = await stet.experiments.stop(uuid)
   */
  stop(experimentUuid: string, o: RequestOptions = {}): ApiPromise<Experiment> {
    return this.#api.call('experiments.stop', { experimentUuid }, o)
  }

  /**
   * Gives items without a usable answer a new attempt. With `rows: 'new'`, also runs rows that are new or changed.
   *
   * @example await stet.experiments.resume(uuid, { rows: 'new' })
   */
  resume(
    experimentUuid: string,
    { rows, budgetUsd, ...o }: ResumeExperimentBody & RequestOptions = {},
  ): ApiPromise<Experiment> {
    return this.#api.call('experiments.resume', { experimentUuid, rows, budgetUsd }, o)
  }

  /**
   * Stores up to 500 scores of your own code. They are evaluations of the type `code`, created on demand.
   *
   * @example
   * const [row] = (await stet.experiments.items(uuid)).items
   * const itemUuid = row?.items[0]?.uuid ?? ''
   * await stet.experiments.scores(uuid, [{ itemUuid, evaluation: 'refund.eval.ts:citesOrder', passed: true }])
   */
  scores(experimentUuid: string, scores: AddScoresBody['scores'], o: RequestOptions = {}): ApiPromise<AddedScores> {
    return this.#api.call('experiments.scores', { experimentUuid, scores }, o)
  }

  /**
   * Resolves when the experiment no longer runs. Abort `signal` to stop waiting; the experiment continues.
   *
   * @example
   * const { state } = await stet.experiments.wait(uuid, { onProgress: ({ counts }) => console.log(counts.ended) })
   */
  wait(
    experimentUuid: string,
    { onProgress, ...o }: RequestOptions & { onProgress?: (experiment: Experiment) => void } = {},
  ): ApiPromise<Experiment> {
    const ended = async () => {
      for (;;) {
        const answer = await this.get(experimentUuid, o).withResponse()
        onProgress?.(answer.data)
        if (answer.data.state !== 'running') return answer
        await this.#api.settings.runtime.sleep(LOOK_MS, o.signal)
      }
    }
    return new ApiPromise(ended())
  }
}
