/** One look at a running experiment: starts, scores and ends what is due. Any process may take it at any time. */
import type { Needs } from '../../deps.ts'
import { isOwnFailure } from '../../evaluations/checks/own-failure.ts'
import type { FingerprintDeps } from '../../runs/tools/fingerprint-prompt.ts'
import { hasArmChanged } from '../arms/prepare-arm.ts'
import type { ExperimentTexts } from '../experiment.ts'
import type { Progress, RunningExperiment } from '../ports.ts'
import { attemptUuid } from '../rows/fingerprint.ts'
import { scoreEnded } from './score-ended.ts'
import { stopItems } from './stop-experiment.ts'
import { type Advancing, type TopUpDeps, topUp } from './top-up.ts'

export type AdvanceDeps = TopUpDeps & FingerprintDeps & Needs<'logger' | 'transaction'>

/** External failures in a row, after which the provider counts as down. */
const mostFailures = 10

/** Returns true if there may be more to do now. */
export async function advanceExperiment(deps: AdvanceDeps, look: Advancing): Promise<boolean> {
  const { experiment, texts } = look
  const { work } = deps.experiments
  const progress = await work.progress(experiment.uuid)
  // Scores of answers that are there need no key.
  if (experiment.isKeyGone && progress.waiting + progress.running > 0) {
    await work.finish(experiment.uuid, { state: 'stopped', reason: 'key' })
    await stopItems(deps, experiment)
    return false
  }
  if (await isProviderDown(deps, experiment, progress)) {
    await work.finish(experiment.uuid, { state: 'failed', reason: 'provider' })
    return false
  }
  const isRetried = progress.retrying > 0 && (await retryFailed(deps, experiment))
  const hasMore = (await topUp(deps, look, progress)) || isRetried
  const { waiting, running, costUsd } = progress
  const isSpent = costUsd >= experiment.budgetUsd
  const scored = await scoreEnded(deps, experiment, { texts, maySpend: !isSpent })
  if (hasMore || running > 0 || scored === 'waiting' || (waiting > 0 && !isSpent)) return hasMore
  const isStale = await haveArmsChanged(deps, experiment, await texts())
  const { uuid, revision } = experiment
  if (waiting === 0 && scored === 'complete') {
    // A row that was edited meanwhile is scored in the next look.
    return !(await work.finish(uuid, { state: 'completed', reason: null, isStale, revision }))
  }
  await work.finish(uuid, { state: 'stopped', reason: 'budget', isStale })
  return false
}

async function isProviderDown(
  { experiments: { work } }: AdvanceDeps,
  { uuid }: RunningExperiment,
  { failed, retrying }: Progress,
): Promise<boolean> {
  if (failed + retrying < mostFailures) return false
  const ends = await work.listLastEnds(uuid, mostFailures)
  return (
    ends.length === mostFailures &&
    ends.every(({ code, details }) => code !== null && code !== 'open-tool-call' && !isOwnFailure({ code, details }))
  )
}

/** A second attempt has its own conversation. Of two processes, one changes the item. */
async function retryFailed({ experiments: { work } }: AdvanceDeps, { uuid }: RunningExperiment): Promise<boolean> {
  const items = await work.listRetries(uuid)
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
