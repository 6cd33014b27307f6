import type { Report } from '@stet/contract/vocabulary'
import { refuse } from '../../../shared/app-error.ts'
import { readUuid } from '../../../shared/text-guards.ts'
import { type FingerprintDeps, providerOf } from '../../runs/tools/fingerprint-prompt.ts'
import { type ExperimentAddress, type FindExperimentDeps, findExperiment } from '../find-experiment.ts'
import { judgingEvaluations } from './judging-evaluations.ts'
import { makeReport } from './report.ts'

type ReportDeps = FindExperimentDeps & FingerprintDeps

/** @throws AppError NotFoundError for the experiment, and for an evaluation that it does not have. */
export async function readReport(
  deps: ReportDeps,
  { evaluation, ...address }: ExperimentAddress & { evaluation?: string | undefined },
): Promise<Report> {
  const experiment = await findExperiment(deps, address)
  const evaluationUuid = evaluation === undefined ? null : (readUuid(evaluation) ?? '')
  if (evaluationUuid !== null && !experiment.evaluationUuids.includes(evaluationUuid))
    throw refuse('unknown-evaluation')
  const { workspaceId, uuid } = experiment
  const verdicts = await deps.stores.experiments.verdicts(workspaceId, uuid)
  const evaluations = await judgingEvaluations(deps, experiment)
  return makeReport({
    experiment,
    verdicts,
    evaluations,
    evaluationUuid,
    isDemo: await usesDemo(deps, workspaceId, uuid),
  })
}

async function usesDemo(deps: ReportDeps, workspaceId: number, uuid: string): Promise<boolean> {
  const { arms } = await deps.stores.experiments.findTexts(workspaceId, uuid)
  for (const { config, projectDefaults } of arms) {
    if ((await providerOf(deps, { workspaceId, config, projectDefaults })).isDemo) return true
  }
  return false
}
