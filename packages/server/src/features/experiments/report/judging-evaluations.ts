/** The evaluations of an experiment, with the trust in its judges. */
import type { Evaluation } from '../../evaluations/evaluation.ts'
import { agreementWith, judgeNow } from '../../evaluations/judge/read-agreement.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import type { Experiment } from '../experiment.ts'
import type { JudgingEvaluation } from './report.ts'

type JudgingExperiment = Pick<Experiment, 'workspaceId' | 'evaluationUuids' | 'judges'>

/** In the order of the experiment. */
export async function judgingEvaluations(
  deps: FingerprintDeps,
  experiment: JudgingExperiment,
): Promise<JudgingEvaluation[]> {
  const { workspaceId, evaluationUuids } = experiment
  const evaluations = await deps.stores.evaluations.listByUuids(workspaceId, evaluationUuids)
  const byUuid = new Map(evaluations.map((evaluation) => [evaluation.uuid, evaluation]))
  const judging: JudgingEvaluation[] = []
  for (const uuid of evaluationUuids) {
    const evaluation = byUuid.get(uuid)
    if (!evaluation) continue
    const { name, type, builtIn } = evaluation
    const trust = type === 'judge' ? { trust: await trustIn(deps, experiment, evaluation) } : {}
    judging.push({ uuid, name, type, ...(builtIn === 'checks' && { isChecks: true }), ...trust })
  }
  return judging
}

/** A verdict of a judge that was edited since belongs to another text. */
async function trustIn(
  deps: FingerprintDeps,
  { workspaceId, judges }: JudgingExperiment,
  evaluation: Evaluation,
): Promise<NonNullable<JudgingEvaluation['trust']>> {
  const used = judges.find(({ evaluationUuid }) => evaluationUuid === evaluation.uuid)
  const now = await judgeNow(deps, { workspaceId, projectId: null }, evaluation)
  if (!used || used.fingerprint !== now.fingerprint) return 'changed'
  const { isShown } = await agreementWith(deps, evaluation, now)
  return isShown ? 'validated' : 'not-validated'
}
