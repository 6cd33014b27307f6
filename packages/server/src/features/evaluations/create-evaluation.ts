import { randomUUID } from 'node:crypto'
import { type Check, type CreateEvaluationBody, LIMITS } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { completeConfiguration, type Evaluation } from './evaluation.ts'
import { findEvaluation } from './find-evaluation.ts'
import { assertJudge, findJudgePrompt } from './judge/judge-prompt.ts'

interface CreateEvaluationInput
  extends Omit<CreateEvaluationBody, 'type' | 'metric' | 'checks'>,
    Pick<Evaluation, 'type' | 'metric'> {
  caller: Caller
  checks?: Check[]
}

/**
 * @throws AppError NotFoundError (project, document, judge), BadRequestError for an invalid range,
 * UnprocessableEntityError for a prompt that cannot judge.
 */
export async function createEvaluation(
  deps: Needs<'stores' | 'transaction' | 'liveCache' | 'clock' | 'templates' | 'runs'>,
  input: CreateEvaluationInput,
): Promise<Evaluation> {
  const { caller, projectId, name, type, metric, checks = null, judge } = input
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const documentUuid = input.documentUuid?.toLowerCase() ?? null
  if (documentUuid !== null && !(await deps.stores.documents.knowsDocument(workspaceId, projectId, documentUuid))) {
    throw refuse('unknown-document-uuid')
  }
  const judgePrompt = judge === undefined ? undefined : await findJudgePrompt(deps, { caller, projectId, judge })
  if (judgePrompt) assertJudge(deps, judgePrompt)
  const at = deps.clock.now()
  const evaluation: Evaluation = {
    uuid: randomUUID(),
    workspaceId,
    projectId,
    documentUuid,
    name,
    builtIn: null,
    description: input.description ?? null,
    type,
    metric,
    configuration: completeConfiguration(metric, input.configuration ?? {}),
    checks,
    judgeDocumentUuid: judgePrompt?.text.documentUuid ?? null,
    archivedAt: null,
    createdAt: at,
    updatedAt: at,
  }
  return deps.transaction(async (stores) => {
    if (!(await stores.projects.lock(workspaceId, projectId))) throw refuse('unknown-project')
    await addEvaluation(stores, evaluation)
    return evaluation
  })
}

/** Call it with the project locked, so that the count includes concurrent ones. @throws AppError ConflictError if the project has too many. */
export async function addEvaluation(
  { evaluations }: Pick<Stores, 'evaluations'>,
  evaluation: Evaluation,
): Promise<void> {
  const { workspaceId, projectId } = evaluation
  const { evaluations: limit } = LIMITS
  await evaluations.create(workspaceId, evaluation)
  if ((await evaluations.count(workspaceId, projectId)) > limit) throw refuse('evaluation-limit', { limit })
}

/** @throws AppError NotFoundError */
export async function archiveEvaluation(
  deps: Needs<'stores' | 'singleWrite' | 'liveCache' | 'clock'>,
  { archived, ...address }: { caller: Caller; evaluationUuid: string; archived?: boolean },
): Promise<Evaluation> {
  const evaluation = await findEvaluation(deps, address)
  if (archived === undefined) return evaluation
  const archivedAt = archived ? (evaluation.archivedAt ?? deps.clock.now()) : null
  await deps.singleWrite(({ evaluations }) => evaluations.archive(evaluation.workspaceId, evaluation.uuid, archivedAt))
  return { ...evaluation, archivedAt }
}
