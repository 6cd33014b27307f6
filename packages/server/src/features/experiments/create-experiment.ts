/** Starts an experiment: everything is checked before the first model call, and one transaction stores all of its items. */
import { randomUUID } from 'node:crypto'
import { type CreateExperimentBody, EXPERIMENT_LIMITS, type NewExperimentArm } from '@stet/contract/vocabulary'
import { AppError, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Needs } from '../deps.ts'
import { findProject } from '../documents/version-ref.ts'
import type { FingerprintDeps } from '../runs/tools/fingerprint-prompt.ts'
import { evaluationsOf, judgesOf } from './arms/experiment-evaluations.ts'
import { type ArmAddress, type PreparedArm, prepareArm } from './arms/prepare-arm.ts'
import type { Arm, ShownExperiment } from './experiment.ts'
import { assertRoom, budgetWithin } from './find-experiment.ts'
import type { NewExperiment } from './ports.ts'
import { contentKeyOf } from './rows/fingerprint.ts'
import { assertTextsFit, RowFitter } from './rows/fit-rows.ts'
import { itemsOf, readRows } from './rows/read-rows.ts'

type CreateDeps = FingerprintDeps & Needs<'transaction' | 'experiments' | 'clock'>

export interface CreateExperimentInput
  extends Required<Pick<CreateExperimentBody, 'path' | 'arms'>>,
    CreateExperimentBody {
  caller: Caller
  projectId: number
}

/**
 * @throws AppError NotFoundError; ConflictError if the same arms run over the same rows; UnprocessableEntityError for rows
 * that do not fit, too many runs or too high a budget; BadRequestError for texts that are too large; RunError `chain_compile_error`.
 */
export async function createExperiment(deps: CreateDeps, input: CreateExperimentInput): Promise<ShownExperiment> {
  const { caller, projectId, trials = EXPERIMENT_LIMITS.trials.byDefault, tag = null } = input
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const { maxRuns = EXPERIMENT_LIMITS.maxRuns.byDefault } = input
  const budgetUsd = budgetWithin(deps, input.budgetUsd)
  const arms = await prepareArms(deps, { caller, projectId, path: input.path }, input.arms)
  const documentUuid = arms.at(-1)?.documentUuid ?? ''
  const fitter = new RowFitter(arms.map(({ text }) => text))
  const place = { caller, projectId, documentUuid, tag, examples: input.examples }
  const rows = await readRows(deps, place, (row) => fitter.check(row))
  const runs = rows.length * arms.length * trials
  if (runs > maxRuns) throw refuse('too-many-runs', { runs, limit: maxRuns })
  fitter.assertAllFit()
  const evaluations = await evaluationsOf(deps, { workspaceId, projectId, documentUuid, asked: input.evaluations })
  const judges = await judgesOf(deps, caller, evaluations)
  const texts = { arms: arms.map(({ text }) => text), judges: judges.map(({ text }) => text) }
  assertTextsFit(texts)
  const hashes = rows.map(({ uuid, hash }) => [uuid, hash] as const)
  const experiment: NewExperiment = {
    ...{ uuid: randomUUID(), workspaceId, projectId, path: input.path, documentUuid, tag },
    arms: arms.map(armOf),
    texts,
    contentKey: contentKeyOf(
      arms.map(({ fingerprint }) => fingerprint),
      hashes,
      trials,
    ),
    ...{ trials, budgetUsd, maxRuns },
    evaluationUuids: evaluations.map(({ uuid }) => uuid),
    judges: judges.map(({ text: _text, ...judge }) => judge),
    concurrency: input.concurrency ?? EXPERIMENT_LIMITS.concurrency.byDefault,
    estimateUsd: await estimate(deps, { workspaceId, documentUuid }, arms, rows.length * trials),
    ...{ state: 'running', reason: null, isStale: false, origin: input.origin ?? null },
    ...{ author: caller.author, apiKeyId: caller.apiKeyId, createdAt: deps.clock.now(), finishedAt: null },
    ...{ areAnswersDropped: false, isSubset: input.examples !== undefined },
  }
  const items = itemsOf({ experimentUuid: experiment.uuid, arms: arms.length, trials }, rows)
  return deps.transaction(async ({ experiments }) => {
    if (!(await experiments.create(workspaceId, experiment, items))) {
      throw refuse('experiment-active', { experimentUuid: await experiments.findRunning(workspaceId, experiment) })
    }
    await assertRoom({ experiments }, workspaceId)
    const counts = { total: items.length, waiting: items.length, running: 0, ended: 0, failed: 0 }
    return { ...experiment, costUsd: 0, counts, evaluations }
  })
}

/**
 * An arm that lacks the path is looked up at the path from which another arm has moved the prompt, because a move keeps
 * the prompt and its rows.
 */
async function prepareArms(
  deps: FingerprintDeps,
  address: ArmAddress,
  arms: readonly NewExperimentArm[],
): Promise<PreparedArm[]> {
  const prepared = new Map<NewExperimentArm, PreparedArm>()
  let unknown: unknown
  for (const arm of arms) {
    try {
      prepared.set(arm, await prepareArm(deps, address, arm))
    } catch (error) {
      if (!(error instanceof AppError) || error.reason !== 'unknown-document') throw error
      unknown ??= error
    }
  }
  const movedFrom = [...prepared.values()].find((arm) => arm.movedFrom !== null)?.movedFrom
  if (unknown !== undefined && movedFrom == null) throw unknown
  for (const arm of arms) {
    if (movedFrom != null && !prepared.has(arm))
      prepared.set(arm, await prepareArm(deps, { ...address, path: movedFrom }, arm))
  }
  return arms.flatMap((arm) => prepared.get(arm) ?? [])
}

function armOf({ versionUuid, label, overrides, fingerprint }: PreparedArm): Arm {
  return { versionUuid, label, overrides, fingerprint }
}

/** Null if a model of an arm has no priced run of the prompt yet. */
async function estimate(
  { stores }: Needs<'stores'>,
  { workspaceId, documentUuid }: { workspaceId: number; documentUuid: string },
  arms: readonly PreparedArm[],
  runsOfArm: number,
): Promise<number | null> {
  const models = arms.map(({ model }) => model)
  const known = models.filter((model) => model !== null)
  const means = await stores.experiments.meanCosts(workspaceId, documentUuid, known)
  let sum = 0
  for (const model of models) {
    const mean = model === null ? undefined : means.get(model)
    if (mean === undefined) return null
    sum += mean * runsOfArm
  }
  return sum
}
