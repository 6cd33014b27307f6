/** The evaluations of an experiment. */
import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import { type AppError, issueAt, refuse } from '../../../shared/app-error.ts'
import type { Caller } from '../../../shared/caller.ts'
import type { Needs } from '../../deps.ts'
import { ensureChecks } from '../../evaluations/built-in.ts'
import type { Evaluation } from '../../evaluations/evaluation.ts'
import type { Judge } from '../../evaluations/judge/judge.ts'
import { judgeText } from '../../evaluations/judge/judge-run.ts'
import { judgeNow } from '../../evaluations/judge/read-agreement.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import type { ShownEvaluation } from '../experiment.ts'

interface Asked {
  workspaceId: number
  projectId: number
  documentUuid: string
  asked: readonly string[] | undefined
}

/**
 * Without a list: all automatic ones of the prompt and of the project. People label later, and code scores when its
 * process sends its results. @throws AppError NotFoundError for an evaluation of another prompt or project.
 */
export async function evaluationsOf(
  { stores, clock }: Needs<'stores' | 'clock'>,
  { workspaceId, projectId, documentUuid, asked }: Asked,
): Promise<ShownEvaluation[]> {
  await ensureChecks(stores, { workspaceId, projectId, at: clock.now() })
  const all = (await stores.evaluations.list(workspaceId, { projectId })).filter(
    (evaluation) => evaluation.documentUuid === null || evaluation.documentUuid === documentUuid,
  )
  if (!asked) {
    const automatic = all.filter(isAutomatic).map(shownEvaluation)
    if (automatic.length > EXPERIMENT_LIMITS.evaluations) throw tooManyEvaluations('evaluations')
    return automatic
  }
  const byUuid = new Map(all.map((evaluation) => [evaluation.uuid, evaluation]))
  return [...new Set(asked.map((uuid) => uuid.toLowerCase()))].map((uuid) => {
    const evaluation = byUuid.get(uuid)
    if (!evaluation) throw refuse('unknown-evaluation')
    return shownEvaluation(evaluation)
  })
}

export function tooManyEvaluations(path: string): AppError {
  const { evaluations } = EXPERIMENT_LIMITS
  return refuse('invalid-body', issueAt(path, `must not give the experiment more than ${evaluations} evaluations`))
}

/** The judges among the evaluations, with their texts and fingerprints of now. Leaves out those whose prompts were deleted. */
export async function judgesOf(
  deps: FingerprintDeps,
  caller: Pick<Caller, 'workspaceId' | 'projectId'>,
  evaluations: readonly ShownEvaluation[],
): Promise<Judge[]> {
  const { workspaceId } = caller
  const uuids = evaluations.flatMap(({ uuid, type }) => (type === 'judge' ? [uuid] : []))
  const judges: Judge[] = []
  for (const evaluation of await deps.stores.evaluations.listByUuids(workspaceId, uuids)) {
    const { prompt, fingerprint } = await judgeNow(deps, caller, evaluation)
    // The answers that it should judge become unscored.
    if (!prompt || fingerprint === null) continue
    const { documentUuid } = prompt.text
    judges.push({ evaluationUuid: evaluation.uuid, fingerprint, documentUuid, text: judgeText(prompt) })
  }
  return judges
}

/** By uuid. */
export async function shownEvaluations(
  { stores }: Needs<'stores'>,
  workspaceId: number,
  uuids: readonly string[],
): Promise<Map<string, ShownEvaluation>> {
  if (uuids.length === 0) return new Map()
  const found = await stores.evaluations.listByUuids(workspaceId, [...new Set(uuids)])
  return new Map(found.map((evaluation) => [evaluation.uuid, shownEvaluation(evaluation)]))
}

function isAutomatic({ type }: Evaluation): boolean {
  return type === 'rule' || type === 'judge'
}

function shownEvaluation({ uuid, name, type }: Evaluation): ShownEvaluation {
  return { uuid, name, type }
}
