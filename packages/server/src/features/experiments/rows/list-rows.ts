/** The rows of an experiment, page by page, each with the items of all arms. */
import type { ExperimentRowFilter } from '@stet/contract/vocabulary'
import { readUuid } from '../../../shared/text-guards.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import type { Experiment } from '../experiment.ts'
import { type ExperimentAddress, type FindExperimentDeps, findExperiment } from '../find-experiment.ts'
import type { ShownRow } from '../ports.ts'
import { judgingEvaluations } from '../report/judging-evaluations.ts'
import { type RowResults, rowResults } from '../report/outcomes.ts'
import { decidingEvaluations } from '../report/report.ts'

type ListRowsDeps = FindExperimentDeps & FingerprintDeps

interface ListRowsInput extends ExperimentAddress {
  arm?: number | undefined
  filter?: ExperimentRowFilter | undefined
  evaluationUuid?: string | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

interface RowPage {
  rows: ShownRow[]
  nextCursor: string | null
  areAnswersDropped: boolean
}

const defaultLimit = 50

/** The cursor is the position of the last row. An unknown one, or an unknown evaluation, finds nothing. */
export async function listRows(deps: ListRowsDeps, input: ListRowsInput): Promise<RowPage> {
  const { cursor = '-1', limit = defaultLimit } = input
  const experiment = await findExperiment(deps, input)
  const { workspaceId, uuid, areAnswersDropped } = experiment
  const after = /^-?\d{1,9}$/.test(cursor) ? Number(cursor) : Number.POSITIVE_INFINITY
  const matching = await matchingPositions(deps, experiment, input)
  const open = matching.filter((position) => position > after)
  const positions = open.slice(0, limit)
  const rows = positions.length === 0 ? [] : await deps.stores.experiments.listRows(workspaceId, uuid, positions)
  const nextCursor = open.length > limit ? String(positions.at(-1)) : null
  return { rows, nextCursor, areAnswersDropped }
}

async function matchingPositions(
  deps: ListRowsDeps,
  experiment: Experiment,
  { filter, evaluationUuid, arm = experiment.arms.length - 1 }: ListRowsInput,
): Promise<number[]> {
  const { experiments } = deps.stores
  const { workspaceId, uuid } = experiment
  const rows = await experiments.listPositions(workspaceId, uuid, filter === 'differs' ? arm : null)
  if (filter === undefined) return rows.map(({ position }) => position)
  if (filter === 'differs') return rows.flatMap(({ differs, position }) => (differs ? [position] : []))
  const chosen = evaluationUuid === undefined ? undefined : readUuid(evaluationUuid)
  if (evaluationUuid !== undefined && (chosen === undefined || !experiment.evaluationUuids.includes(chosen))) return []
  const verdicts = await experiments.verdicts(workspaceId, uuid)
  const evaluations = chosen === undefined ? await judgingEvaluations(deps, experiment) : []
  // As in the report, so that the rows are those of its numbers.
  const evaluationUuids = decidingEvaluations({ verdicts, evaluations }, chosen ?? null)
  const results = rowResults(verdicts, { evaluationUuids })
  const matches = new Set(
    verdicts.rows.flatMap(({ exampleUuid }, row) => (matchesFilter(filter, results, row, arm) ? [exampleUuid] : [])),
  )
  return rows.flatMap(({ exampleUuid, position }) => (matches.has(exampleUuid) ? [position] : []))
}

function matchesFilter(filter: ExperimentRowFilter, results: RowResults, row: number, arm: number): boolean {
  const [baseline, result] = [results[0]?.[row], results[arm]?.[row]]
  if (filter === 'broke') return baseline === true && result === false
  if (filter === 'fixed') return baseline === false && result === true
  return filter === 'failed' ? result === false : result === undefined
}
