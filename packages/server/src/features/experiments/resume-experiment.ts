/** Gives items without a usable answer a new attempt. The other items keep their results. */
import { refuse } from '../../shared/app-error.ts'
import { requireScope } from '../access/api-key.ts'
import type { Needs } from '../deps.ts'
import { isOwnFailure } from '../evaluations/checks/own-failure.ts'
import type { Experiment, ExperimentItem, ShownExperiment } from './experiment.ts'
import { assertRoom, budgetWithin, type ExperimentAddress, findExperiment, showExperiment } from './find-experiment.ts'
import type { NextAttempt, VerdictItem, VerdictScore } from './ports.ts'
import { attemptUuid, contentKeyOf } from './rows/fingerprint.ts'
import { RowFitter } from './rows/fit-rows.ts'
import { itemsOf, type RowHead, readRows } from './rows/read-rows.ts'

type ResumeDeps = Needs<'stores' | 'transaction' | 'liveCache' | 'experiments'>

interface ResumeInput extends ExperimentAddress {
  rows?: 'new' | undefined
  budgetUsd?: number | undefined
}

/**
 * With `rows: 'new'`, also runs rows that are new or whose inputs changed, in all arms.
 * @throws AppError NotFoundError; ForbiddenError for arms with overrides without the scope `write`; ConflictError while it,
 * or one with the same arms and rows, runs; UnprocessableEntityError for too many runs, and rows that do not fit.
 */
export async function resumeExperiment(deps: ResumeDeps, input: ResumeInput): Promise<ShownExperiment> {
  const { caller } = input
  const experiment = await findExperiment(deps, input)
  const { uuid, workspaceId, arms, trials, maxRuns } = experiment
  if (experiment.state === 'running') throw refuse('experiment-active', { experimentUuid: uuid })
  if (arms.some(({ overrides }) => overrides !== null)) requireScope(caller, ['write'])
  const budgetUsd = input.budgetUsd === undefined ? experiment.budgetUsd : budgetWithin(deps, input.budgetUsd)
  const rows = input.rows === 'new' ? await currentRows(deps, experiment) : []
  const items = await deps.stores.experiments.listItems(workspaceId, uuid)
  const verdicts = await deps.stores.experiments.verdicts(workspaceId, uuid)
  const known = new Set(items.map(({ exampleUuid }) => exampleUuid))
  const firstPosition = 1 + items.reduce((last, { position }) => Math.max(last, position), -1)
  const plan = { experimentUuid: uuid, arms: arms.length, trials, firstPosition }
  const added = itemsOf(
    plan,
    rows.filter((row) => !known.has(row.uuid)),
  )
  const runs = items.length + added.length
  if (runs > maxRuns) throw refuse('too-many-runs', { runs, limit: maxRuns })
  // Nothing can score an answer that was dropped.
  const needed = experiment.areAnswersDropped ? await automaticOf(deps, experiment) : []
  const attempts = nextAttempts(items, verdicts.items, { rows, needed })
  const hashes = new Map([
    ...items.map((item) => [item.exampleUuid, item.rowHash] as const),
    ...rows.map((row) => [row.uuid, row.hash] as const),
  ])
  const contentKey = contentKeyOf(
    arms.map(({ fingerprint }) => fingerprint),
    hashes,
    trials,
  )
  return deps.transaction(async (stores) => {
    const { experiments } = stores
    const change = { from: ['completed', 'stopped', 'failed'], state: 'running', reason: null } as const
    const more = { finishedAt: null, apiKeyId: caller.apiKeyId, budgetUsd, contentKey }
    if (!(await experiments.setState(workspaceId, uuid, { ...change, ...more, droppedAt: null }))) {
      throw refuse('experiment-active', { experimentUuid: uuid })
    }
    await assertRoom(stores, workspaceId)
    await experiments.nextAttempts(workspaceId, uuid, attempts)
    await experiments.addItems(workspaceId, uuid, added)
    return showExperiment(
      { stores },
      { ...experiment, ...more, areAnswersDropped: false, state: 'running', reason: null },
    )
  })
}

/** The rows as they are now. Of rows that the caller chose one by one, no others. */
async function currentRows(deps: ResumeDeps, experiment: Experiment): Promise<RowHead[]> {
  const { workspaceId, uuid, isSubset, projectId, documentUuid, tag } = experiment
  const texts = await deps.stores.experiments.findTexts(workspaceId, uuid)
  const fitter = new RowFitter(texts.arms)
  const own = isSubset
    ? new Set((await deps.stores.experiments.listItems(workspaceId, uuid)).map(({ exampleUuid }) => exampleUuid))
    : undefined
  const place = { caller: { workspaceId }, projectId, documentUuid, tag }
  const rows = await readRows(deps, place, (row) => {
    if (!own || own.has(row.uuid)) fitter.check(row)
  })
  fitter.assertAllFit()
  return own ? rows.filter((row) => own.has(row.uuid)) : rows
}

function nextAttempts(
  items: readonly ExperimentItem[],
  verdicts: readonly VerdictItem[],
  { rows, needed }: { rows: readonly RowHead[]; needed: readonly string[] },
): NextAttempt[] {
  const verdictOf = new Map(verdicts.map((verdict) => [verdict.uuid, verdict]))
  const rowOf = new Map(rows.map((row) => [row.uuid, row]))
  return items.flatMap((item): NextAttempt[] => {
    const now = rowOf.get(item.exampleUuid)
    const row = now && now.hash !== item.rowHash ? { rowHash: now.hash, rowName: now.name } : undefined
    const verdict = verdictOf.get(item.uuid)
    if (!row && !(verdict && (isUnusable(verdict) || lacksScore(verdict, needed)))) return []
    const { uuid, attempt } = item
    const conversationUuid = attemptUuid(uuid, attempt + 1)
    return [{ uuid, attempt, conversationUuid, isRetry: false, ...(row && { row }) }]
  })
}

async function automaticOf({ stores }: ResumeDeps, { workspaceId, evaluationUuids }: Experiment): Promise<string[]> {
  const evaluations = await stores.evaluations.listByUuids(workspaceId, evaluationUuids)
  return evaluations.flatMap(({ uuid, type }) => (type === 'rule' || type === 'judge' ? [uuid] : []))
}

function lacksScore({ outcome, scores }: VerdictItem, needed: readonly string[]): boolean {
  const isMissing = (score: VerdictScore | undefined) => !score || (score.by === 'person' && !score.auto)
  return outcome === 'ended' && needed.some((uuid) => isMissing(scores[uuid]))
}

/** True if another attempt may give a score: the run failed for an external reason, or a judge's run did. */
function isUnusable({ outcome, code, details = {}, scores }: VerdictItem): boolean {
  if (outcome === 'failed') return code !== undefined && !isOwnFailure({ code, details })
  if (outcome !== 'ended') return false
  return Object.values(scores).some((score) => score.hasPassed === undefined && isRepeatable(score.code))
}

/** A score that lacks something in the row, or that ran into a limit, would lack it again. */
function isRepeatable(code: string | undefined): boolean {
  return code === 'judge-format' || code?.endsWith('_error') === true || code === 'worker_lost'
}
