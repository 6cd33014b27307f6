/** Finds the experiments that a key may see, with what is counted when they are shown. */
import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import { readUuid } from '../../shared/text-guards.ts'
import type { Needs, Stores } from '../deps.ts'
import { deletedProjects, findProject } from '../documents/version-ref.ts'
import { shownEvaluations } from './arms/experiment-evaluations.ts'
import type { Experiment, ShownExperiment } from './experiment.ts'
import type { ExperimentDeps, ExperimentWorkStore } from './ports.ts'

export type FindExperimentDeps = Needs<'stores' | 'liveCache'>

export interface ExperimentAddress {
  caller: Caller
  experimentUuid: string
}

/** @throws AppError NotFoundError, also for experiments of deleted projects and for those that are hidden from the key. */
export async function findExperiment(
  deps: FindExperimentDeps,
  { caller, experimentUuid }: ExperimentAddress,
): Promise<Experiment> {
  const uuid = readUuid(experimentUuid)
  const experiment = uuid && (await deps.stores.experiments.findOptional(caller.workspaceId, uuid))
  const isVisible = experiment && (caller.projectId === null || caller.projectId === experiment.projectId)
  if (!isVisible || (await deletedProjects(deps)).has(experiment.projectId)) throw refuse('unknown-experiment')
  return experiment
}

export async function readExperiment(deps: FindExperimentDeps, address: ExperimentAddress): Promise<ShownExperiment> {
  return showExperiment(deps, await findExperiment(deps, address))
}

export async function showExperiment(
  deps: Pick<FindExperimentDeps, 'stores'>,
  found: Experiment,
): Promise<ShownExperiment> {
  const [shown] = await showAll(deps, found.workspaceId, [found])
  if (!shown) throw refuse('unknown-experiment')
  return shown
}

interface ListInput {
  caller: Caller
  projectId: number
  documentUuid?: string | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

const defaultLimit = 20

/** Newest first. The cursor is the uuid of the last one. @throws AppError NotFoundError for the project. */
export async function listExperiments(
  deps: FindExperimentDeps,
  { caller, projectId, documentUuid, cursor, limit = defaultLimit }: ListInput,
): Promise<{ items: ShownExperiment[]; nextCursor: string | null }> {
  const { workspaceId } = caller
  await findProject(deps, caller, projectId)
  const after = cursor === undefined ? undefined : readUuid(cursor)
  const prompt = documentUuid === undefined ? undefined : readUuid(documentUuid)
  const isEmpty = (documentUuid !== undefined && !prompt) || (cursor !== undefined && !after)
  const found = isEmpty
    ? []
    : await deps.stores.experiments.list(workspaceId, projectId, {
        ...(prompt && { documentUuid: prompt }),
        ...(after && { after }),
        limit: limit + 1,
      })
  const items = await showAll(deps, workspaceId, found.slice(0, limit))
  return { items, nextCursor: found.length > limit ? (items.at(-1)?.uuid ?? null) : null }
}

async function showAll(
  { stores }: Pick<FindExperimentDeps, 'stores'>,
  workspaceId: number,
  found: readonly Experiment[],
): Promise<ShownExperiment[]> {
  const progress = await stores.experiments.progress(
    workspaceId,
    found.map(({ uuid }) => uuid),
  )
  const evaluations = await shownEvaluations(
    { stores },
    workspaceId,
    found.flatMap(({ evaluationUuids }) => evaluationUuids),
  )
  return found.map((experiment) => {
    const { costUsd = 0, ...counted } = progress.get(experiment.uuid) ?? {}
    const { total = 0, waiting = 0, running = 0, ended = 0, failed = 0 } = counted as Record<string, number>
    return {
      ...experiment,
      costUsd,
      counts: { total, waiting, running, ended, failed },
      evaluations: experiment.evaluationUuids.flatMap((uuid) => evaluations.get(uuid) ?? []),
    }
  })
}

/** Call it with the experiment already running. @throws AppError ConflictError if too many are. */
export async function assertRoom({ experiments }: Pick<Stores, 'experiments'>, workspaceId: number): Promise<void> {
  const { running: limit } = EXPERIMENT_LIMITS
  if ((await experiments.countRunning(workspaceId)) > limit) throw refuse('too-many-experiments', { limit })
}

/** Without a budget, the default within the server's limit. @throws AppError UnprocessableEntityError */
export function budgetWithin({ experiments }: Needs<'experiments'>, budgetUsd: number | undefined): number {
  const { maxUsd } = experiments.settings
  if (budgetUsd !== undefined && budgetUsd > maxUsd) throw refuse('budget-too-high', { limit: maxUsd })
  return budgetUsd ?? Math.min(EXPERIMENT_LIMITS.budgetUsd, maxUsd)
}

/** The loop of the process sets `wake` when it starts. */
export function createExperimentDeps(
  work: ExperimentWorkStore,
  settings: { experimentMaxUsd: number; experimentRetentionDays: number },
): ExperimentDeps {
  const { experimentMaxUsd: maxUsd, experimentRetentionDays: retentionDays } = settings
  return { work, settings: { maxUsd, retentionDays }, loop: { wake: () => {} } }
}
