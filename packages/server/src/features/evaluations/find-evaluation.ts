/** Finds the evaluations that a key may see. All others count as unknown, as do those of deleted projects. */

import { defined } from '@stet/template/defined'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs } from '../deps.ts'
import { deletedProjects, findProject } from '../documents/version-ref.ts'
import type { Evaluation, EvaluationFilter } from './evaluation.ts'

export async function findEvaluation(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, evaluationUuid }: { caller: Caller; evaluationUuid: string },
): Promise<Evaluation> {
  const uuid = readUuid(evaluationUuid)
  const evaluation = uuid && (await deps.stores.evaluations.findOptional(caller.workspaceId, uuid))
  const isVisible = evaluation && (caller.projectId === null || caller.projectId === evaluation.projectId)
  if (!isVisible || (await deletedProjects(deps)).has(evaluation.projectId)) throw refuse('unknown-evaluation')
  return evaluation
}

/** Newest first. @throws AppError NotFoundError for the project. */
export async function listEvaluations(
  deps: Needs<'stores' | 'liveCache'>,
  { caller, ...filter }: EvaluationFilter & { caller: Caller },
): Promise<Evaluation[]> {
  if (filter.projectId !== undefined) await findProject(deps, caller, filter.projectId)
  const projectId = filter.projectId ?? caller.projectId ?? undefined
  const documentUuid = filter.documentUuid === undefined ? undefined : readUuid(filter.documentUuid)
  if (filter.documentUuid !== undefined && documentUuid === undefined) return []
  const found = await deps.stores.evaluations.list(
    caller.workspaceId,
    defined({ projectId, documentUuid, archived: filter.archived }),
  )
  const deleted = await deletedProjects(deps)
  return found.filter((evaluation) => !deleted.has(evaluation.projectId))
}
