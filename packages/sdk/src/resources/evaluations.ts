import type {
  AgreementQuery,
  AnnotateBody,
  ListEvaluationsQuery,
  QueueQuery,
  RemovedLabel,
  UpdateEvaluationBody,
} from '@stet/contract/vocabulary'
import { ApiPromise } from '../api-promise.ts'
import type { InProject, RequestOptions } from '../options.ts'
import type { Api } from '../transport/api.ts'
import { missing } from '../transport/url.ts'
import type { Agreement, Annotation, Evaluation, EvaluationInput, QueuePage } from '../types.ts'

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
   * Removes your own labels of a conversation, so that another person's label or the automatic score counts again.
   *
   * @example await stet.evaluations.removeLabel(result.uuid, evaluationUuid)
   */
  removeLabel(conversationUuid: string, evaluationUuid: string, o: RequestOptions = {}): ApiPromise<RemovedLabel> {
    return this.#api.call('evaluations.removeLabel', { conversationUuid, evaluationUuid }, o)
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

  /**
   * Archives an evaluation, or takes it back into use.
   *
   * @example const { archivedAt } = await stet.evaluations.update(evaluationUuid, { archived: true })
   */
  update(evaluationUuid: string, o: UpdateEvaluationBody & RequestOptions): ApiPromise<Evaluation> {
    return this.#api.call('evaluations.update', { evaluationUuid }, o)
  }

  /**
   * Compares a judge with people, over the answers that both have judged. Rejects with UnprocessableEntityError for an
   * evaluation that is not a judge.
   *
   * @example const { truePass, trueFail, isShown } = await stet.evaluations.agreement(evaluationUuid)
   */
  agreement(evaluationUuid: string, o: RequestOptions & AgreementQuery = {}): ApiPromise<Agreement> {
    return this.#api.call('evaluations.agreement', { evaluationUuid }, o)
  }

  /**
   * Lists ended conversations that no person has labeled for the evaluation, newest first, in pages.
   *
   * @example
   * const { items, nextCursor } = await stet.evaluations.queue(evaluationUuid, { tag: 'feedback:down' })
   */
  queue(evaluation: string, o: InProject & Omit<QueueQuery, 'evaluation'> = {}): ApiPromise<QueuePage> {
    return this.#api.call('evaluations.queue', { evaluation }, o)
  }
}
