import { randomUUID } from 'node:crypto'
import type { CreateEvaluationBody } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import { completeConfiguration, type Evaluation } from './evaluation.ts'

/** @throws AppError NotFoundError (project, document), BadRequestError for an invalid range. */
export async function createEvaluation(
  deps: Needs<'stores' | 'transaction' | 'liveCache' | 'clock'>,
  input: CreateEvaluationBody & { caller: Caller },
): Promise<Evaluation> {
  const { caller, projectId, name, metric } = input
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const documentUuid = input.documentUuid?.toLowerCase() ?? null
  if (documentUuid !== null && !(await deps.stores.documents.knowsDocument(workspaceId, projectId, documentUuid))) {
    throw refuse('unknown-document-uuid')
  }
  const at = deps.clock.now()
  const evaluation: Evaluation = {
    uuid: randomUUID(),
    workspaceId,
    projectId,
    documentUuid,
    name,
    builtIn: null,
    description: input.description ?? null,
    metric,
    configuration: completeConfiguration(metric, input.configuration ?? {}),
    createdAt: at,
    updatedAt: at,
  }
  return deps.transaction(async ({ evaluations }) => {
    await evaluations.create(workspaceId, evaluation)
    return evaluation
  })
}
