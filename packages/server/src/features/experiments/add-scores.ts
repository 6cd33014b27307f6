/** Stores what the scorers of a team's own code found. They are evaluations of the type `code`, created on demand. */
import { randomUUID } from 'node:crypto'
import { EXPERIMENT_LIMITS, type NewItemScore } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs, Stores } from '../deps.ts'
import { addEvaluation } from '../evaluations/create-evaluation.ts'
import { completeConfiguration, type Evaluation } from '../evaluations/evaluation.ts'
import { tooManyEvaluations } from './arms/experiment-evaluations.ts'
import type { Experiment } from './experiment.ts'
import { type ExperimentAddress, type FindExperimentDeps, findExperiment } from './find-experiment.ts'
import type { CodeScore } from './ports.ts'

type AddScoresDeps = FindExperimentDeps & Needs<'transaction' | 'clock'>

/**
 * A newer score of an item replaces the earlier one. The scores of an item without a run are left out.
 * @throws AppError NotFoundError; BadRequestError for an item of another experiment; UnprocessableEntityError for an
 * evaluation of another type.
 */
export async function addScores(
  deps: AddScoresDeps,
  { scores, ...address }: ExperimentAddress & { scores: readonly NewItemScore[] },
): Promise<{ added: number; projectId: number }> {
  const experiment = await findExperiment(deps, address)
  const { workspaceId, projectId, uuid } = experiment
  const known = new Set((await deps.stores.experiments.listItems(workspaceId, uuid)).map((item) => item.uuid))
  for (const [index, { itemUuid }] of scores.entries()) {
    if (known.has(itemUuid.toLowerCase())) continue
    throw refuse('invalid-body', issueAt(`scores.${index}.itemUuid`, 'must be an item of the experiment'))
  }
  const createdAt = deps.clock.now()
  return deps.transaction(async (stores) => {
    // Two requests may name the same new evaluation.
    if (!(await stores.projects.lock(workspaceId, projectId))) throw refuse('unknown-experiment')
    const evaluations = await codeEvaluations(stores, experiment, { scores, createdAt })
    const present = (await stores.experiments.findOptional(workspaceId, uuid))?.evaluationUuids ?? []
    const together = new Set([...present, ...evaluations.values()])
    if (together.size > EXPERIMENT_LIMITS.evaluations) throw tooManyEvaluations('scores')
    const rows = scores.map(({ itemUuid, evaluation, passed, score, code, reason }): CodeScore => {
      return {
        ...{ uuid: randomUUID(), itemUuid: itemUuid.toLowerCase(), evaluationUuid: evaluations.get(evaluation) ?? '' },
        ...{ hasPassed: passed, code: passed === null ? (code ?? 'no-score') : null },
        metadata: { ...(score !== undefined && { score }), ...(reason !== undefined && { reason }) },
      }
    })
    const added = await stores.experiments.addScores(workspaceId, uuid, {
      rows,
      authorId: address.caller.author.id,
      createdAt,
    })
    await stores.experiments.addEvaluations(workspaceId, uuid, [...new Set(evaluations.values())])
    return { added, projectId }
  })
}

/** Returns the uuids by name. */
async function codeEvaluations(
  stores: Stores,
  { workspaceId, projectId, documentUuid }: Experiment,
  { scores, createdAt: at }: { scores: readonly NewItemScore[]; createdAt: Date },
): Promise<Map<string, string>> {
  const names = new Set(scores.map(({ evaluation }) => evaluation))
  const found = new Map<string, string>()
  for (const { name, type, uuid, documentUuid: own } of await stores.evaluations.list(workspaceId, { projectId })) {
    if (!names.has(name) || (own !== null && own !== documentUuid)) continue
    if (type !== 'code') throw refuse('not-a-code-evaluation', { name })
    found.set(name, uuid)
  }
  for (const name of names) {
    if (found.has(name)) continue
    const evaluation: Evaluation = {
      ...{ uuid: randomUUID(), workspaceId, projectId, documentUuid, name, description: null, builtIn: null },
      ...{ type: 'code', metric: 'binary', configuration: completeConfiguration('binary', {}) },
      ...{ checks: null, judgeDocumentUuid: null, archivedAt: null, createdAt: at, updatedAt: at },
    }
    await addEvaluation(stores, evaluation)
    found.set(name, evaluation.uuid)
  }
  return found
}
