/** Scores the items that have ended. Repeating is harmless: a score is unique by what it depends on. */

import type { Needs } from '../../deps.ts'
import type { Evaluation } from '../../evaluations/evaluation.ts'
import { type ItemScored, type ScoreDeps, scoreItem } from '../../evaluations/score-item.ts'
import type { ExperimentTexts } from '../experiment.ts'
import type { RunningExperiment } from '../ports.ts'

export type ScoreEndedDeps = ScoreDeps & Needs<'experiments'>

/** Scores per look, so that one experiment does not hold up the others. */
const mostAtOnce = 50

interface Look {
  /** Those of the experiment that score by themselves. */
  automatic: readonly Evaluation[]
  /** All items before this position have their scores. */
  from: number
  texts: () => Promise<ExperimentTexts>
  /** False if the budget is spent: then no judge starts. */
  maySpend: boolean
}

/** Returns `complete` if every item that has ended has all scores that it can have, and `left` if the others cost too much. */
export async function scoreEnded(
  deps: ScoreEndedDeps,
  experiment: RunningExperiment,
  { automatic, from, texts, maySpend }: Look,
): Promise<ItemScored['state']> {
  const { work, loop } = deps.experiments
  const { workspaceId, uuid } = experiment
  const evaluationUuids = automatic.map(({ uuid: own }) => own)
  // Items that wait for a budget must not hold up the rules, which cost nothing.
  const free = maySpend ? [] : automatic.flatMap(({ uuid: own, type }) => (type === 'rule' ? [own] : []))
  const unscored = async (uuids: readonly string[]) =>
    uuids.length === 0 ? [] : work.listUnscored(uuid, { evaluationUuids: uuids, from, limit: mostAtOnce })
  const unruled = await unscored(free)
  const items = unruled.length > 0 ? unruled : await unscored(evaluationUuids)
  if (items.length === 0) return 'complete'
  const judgeTexts = experiment.judges.length === 0 ? [] : (await texts()).judges
  const judges = experiment.judges.flatMap((judge, place) => {
    const text = judgeTexts[place]
    return text ? [{ ...judge, text }] : []
  })
  const states = new Set<ItemScored['state']>()
  let hasStored = false
  for (const { conversationUuid, exampleUuid } of items) {
    const outcome = await untilRowStays(deps, exampleUuid, async () => {
      const { projectId } = experiment
      const row = await deps.stores.examples.findOptional(workspaceId, projectId, exampleUuid)
      const scored = { workspaceId, projectId, conversationUuid, row: row ?? deletedRow }
      return scoreItem(deps, { ...scored, evaluationUuids, judges, mayAskJudges: maySpend })
    })
    states.add(outcome.state)
    hasStored ||= outcome.hasStored
  }
  const mayBeMore = items.length === mostAtOnce || unruled.length > 0
  // Without a new score, the next look would find the same items.
  if (mayBeMore && hasStored) loop.wake()
  if (states.has('waiting') || (mayBeMore && hasStored)) return 'waiting'
  return states.has('left') ? 'left' : 'complete'
}

/** An edit drops only the scores that are stored already, so those that were stored during the edit are given again. */
async function untilRowStays(
  { experiments: { work } }: Needs<'experiments'>,
  exampleUuid: string,
  score: () => Promise<ItemScored>,
): Promise<ItemScored> {
  let hasStored = false
  for (let before = await work.rowRevision(exampleUuid); ; ) {
    const outcome = await score()
    hasStored ||= outcome.hasStored
    const after = outcome.hasStored ? await work.rowRevision(exampleUuid) : before
    if (after === before) return { ...outcome, hasStored }
    before = after
  }
}

/** A row that was deleted meanwhile expects nothing any more. */
const deletedRow = { parameters: {}, messages: [], expected: null, checks: [] }
