import type { AnnotateBody, ListEvaluationsQuery } from '@stet/contract/vocabulary'
import { ApiPromise } from '../api-promise.ts'
import type { InProject, RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import { missing } from '../transport/url.ts'
import type { Annotation, Evaluation, EvaluationInput } from '../types.ts'

/**
 * Evaluations define how people score conversations.
 *
 * @example
 * const { uuid } = await stet.evaluations.create({ name: 'Helpful', metric: 'binary' })
 * await stet.evaluations.annotate(result.uuid, 1, uuid, { reason: 'Answers the question' })
 */
export class Evaluations {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /**
   * Scores a conversation. The newest annotation counts. Rejects with UnprocessableEntityError if the score is out of
   * range.
   *
   * @example
   * const { hasPassed } = await stet.evaluations.annotate(result.uuid, 4, evaluationUuid, { reason: 'Friendly, and a bit long' })
   */
  annotate(
    conversationUuid: string,
    score: number,
    evaluationUuid: string,
    o: RequestOptions & Omit<AnnotateBody, 'score' | 'context'> & { reason?: string } = {},
  ): ApiPromise<Annotation> {
    const { reason, ...rest } = o
    const metadata = reason === undefined ? o.metadata : { ...o.metadata, reason }
    const fields = { conversationUuid, evaluationUuid, score, metadata }
    return this.#api.call('evaluations.annotate', fields, rest)
  }

  /**
   * Creates an evaluation for one prompt, or for all prompts of the project.
   *
   * @example
   * const { uuid } = await stet.evaluations.create({
   *   name: 'Tone',
   *   metric: 'rating',
   *   configuration: { minRating: 1, maxRating: 5, minThreshold: 3 },
   * })
   */
  create(i: EvaluationInput, o: InProject = {}): ApiPromise<Evaluation> {
    const projectId = this.#api.projectId(o)
    if (projectId === undefined) return new ApiPromise(Promise.reject(missing('projectId')))
    return this.#api.call('evaluations.create', { ...i, projectId: Number(projectId) }, o)
  }

  /**
   * Lists evaluations, newest first. If neither the call nor the client has a project, lists the evaluations of all
   * projects that the API key can access.
   *
   * @example const evaluations = await stet.evaluations.list({ projectId: 1 })
   */
  list(o: InProject & Omit<ListEvaluationsQuery, 'projectId'> = {}): ApiPromise<Evaluation[]> {
    return this.#api.call('evaluations.list', { projectId: this.#api.projectId(o) }, o)
  }

  /**
   * Returns one evaluation.
   *
   * @example const { name, metric, configuration } = await stet.evaluations.get(evaluationUuid)
   */
  get(evaluationUuid: string, o: RequestOptions = {}): ApiPromise<Evaluation> {
    return this.#api.call('evaluations.get', { evaluationUuid }, o)
  }
}
