/** One look at a running experiment: starts, scores and ends what is due. Any process may take it at any time. */
import { EXPERIMENT_LIMITS } from '@stet/contract/vocabulary'
import type { Needs } from '../../deps.ts'
import { isOwnFailure } from '../../evaluations/checks/own-failure.ts'
import type { Evaluation } from '../../evaluations/evaluation.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import { hasArmChanged } from '../arms/prepare-arm.ts'
import type { ExperimentTexts } from '../experiment.ts'
import { noProgress, type Progress, type RunningExperiment } from '../ports.ts'
import { attemptUuid } from '../rows/fingerprint.ts'
import { scoreEnded } from './score-ended.ts'
import { stopItems } from './stop-experiment.ts'
import { type Advancing, type TopUpDeps, topUp } from './top-up.ts'

export type AdvanceDeps = TopUpDeps & FingerprintDeps & Needs<'logger' | 'transaction'>

/** External failures in a row, after which the provider counts as down. */
const mostFailures = 10

/**
 * What a process has counted of the first items, which have ended and have all scores. Each look counts only the others:
 * of 4,000 items, that takes 2 ms and not 40.
 */
export interface Settled {
  /** A change of the experiment, for example that it is resumed, may open items again. */
  revision: string
  /** The position of the first item that is not counted yet. */
  from: number
  progress: Progress
  /** Failures of all items in the last look. */
  failures: number
}

export function nothingSettled({ revision }: Pick<RunningExperiment, 'revision'>): Settled {
  return { revision, from: 0, failures: 0, progress: noProgress }
}

/** Returns true if there may be more to do now. */
export async function advanceExperiment(deps: AdvanceDeps, look: Advancing & { settled: Settled }): Promise<boolean> {
  const { experiment, texts, settled } = look
  const { work } = deps.experiments
  const found = await deps.stores.evaluations.listByUuids(experiment.workspaceId, experiment.evaluationUuids)
  const automatic = found.filter(({ type }) => type === 'rule' || type === 'judge')
  const progress = await progressNow(work, experiment.uuid, settled, automatic)
  // Other processes may start items, which are paid, and rows may be edited: both need another look.
  const seen = { revision: experiment.revision, unstarted: progress.waiting - progress.retrying }
  // Scores of answers that are there need no key.
  if (experiment.isKeyGone && progress.waiting + progress.running > 0) {
    const isFirst = await work.finish(experiment.uuid, { state: 'stopped', reason: 'key' }, seen)
    if (isFirst) await stopItems(deps, experiment)
    return !isFirst
  }
  if (await isProviderDown(deps, experiment, { progress, settled })) {
    await work.finish(experiment.uuid, { state: 'failed', reason: 'provider' })
    return false
  }
  const isRetried = progress.retrying > 0 && (await retryFailed(deps, experiment, settled))
  const hasMore = (await topUp(deps, look, progress)) || isRetried
  // A stop sees only the items that were queued before it.
  if (!(await work.isRunning(experiment.uuid))) {
    await stopItems(deps, experiment)
    return false
  }
  const { waiting, running, costUsd } = progress
  const isSpent = costUsd >= experiment.budgetUsd
  const { from } = settled
  const scored = await scoreEnded(deps, experiment, { automatic, from, texts, maySpend: !isSpent })
  if (hasMore || running > 0 || scored === 'waiting' || (waiting > 0 && !isSpent)) return hasMore
  const isStale = await haveArmsChanged(deps, experiment, await texts())
  const isComplete = waiting === 0 && scored === 'complete'
  const change = isComplete ? ({ state: 'completed', reason: null } as const) : budgetReached
  return !(await work.finish(experiment.uuid, { ...change, isStale }, seen))
}

const budgetReached = { state: 'stopped', reason: 'budget' } as const

/** After the last position: each row has at least one item. */
const end = EXPERIMENT_LIMITS.maxRuns.most

/** Notes in `settled` how far all items have ended and have their scores. */
async function progressNow(
  work: AdvanceDeps['experiments']['work'],
  uuid: string,
  settled: Settled,
  automatic: readonly Pick<Evaluation, 'uuid'>[],
): Promise<Progress> {
  const { from } = settled
  const evaluationUuids = automatic.map((evaluation) => evaluation.uuid)
  const to = (await work.firstOpen(uuid, { evaluationUuids, from })) ?? end
  if (to > from) {
    settled.progress = sumOf(settled.progress, await work.progress(uuid, { from, to }))
    settled.from = to
  }
  return sumOf(settled.progress, await work.progress(uuid, { from: to, to: end }))
}

function sumOf(one: Progress, other: Progress): Progress {
  const keys = Object.keys(one) as (keyof Progress)[]
  return { ...one, ...Object.fromEntries(keys.map((key) => [key, one[key] + other[key]])) }
}

/** Only a further failure can be the tenth in a row. */
async function isProviderDown(
  { experiments: { work } }: AdvanceDeps,
  { uuid }: RunningExperiment,
  { progress: { failed, retrying }, settled }: { progress: Progress; settled: Settled },
): Promise<boolean> {
  const failures = failed + retrying
  const isMore = failures > settled.failures
  settled.failures = failures
  if (!isMore || failures < mostFailures) return false
  const ends = await work.listLastEnds(uuid, mostFailures)
  return (
    ends.length === mostFailures &&
    ends.every(({ code, details }) => code !== null && code !== 'open-tool-call' && !isOwnFailure({ code, details }))
  )
}

/** A second attempt has its own conversation. Of two processes, one changes the item. */
async function retryFailed(
  { experiments: { work } }: AdvanceDeps,
  { uuid }: RunningExperiment,
  { from }: Settled,
): Promise<boolean> {
  const items = await work.listRetries(uuid, from)
  if (items.length === 0) return false
  await work.nextAttempts(
    uuid,
    items.map((item) => ({
      ...{ uuid: item.uuid, attempt: item.attempt, isRetry: true },
      conversationUuid: attemptUuid(item.uuid, item.attempt + 1),
    })),
  )
  return true
}

/** Agents are read by path, so their texts may be others than at the start. */
async function haveArmsChanged(
  deps: AdvanceDeps,
  { workspaceId, projectId, arms }: RunningExperiment,
  texts: ExperimentTexts,
): Promise<boolean> {
  for (const [index, arm] of arms.entries()) {
    const text = texts.arms[index]
    if (text && (await hasArmChanged(deps, { workspaceId, projectId }, { ...arm, text }))) return true
  }
  return false
}
