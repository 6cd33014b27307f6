/** What counts as the result of an item, and of a row in an arm. */
import type { Author } from '../../../shared/caller.ts'
import type { VerdictItem, VerdictScore, Verdicts } from '../ports.ts'

/** Which scores count. */
export interface Judgment {
  /** An item passes if it passes in each of them. */
  evaluationUuids: readonly string[]
  /** Whether a person's score counts. Otherwise the automatic score below it does. Default: it counts. */
  countsLabelOf?: (author: Author | undefined) => boolean
}

export interface Outcome {
  /** Undefined if unscored. */
  hasPassed: boolean | undefined
  /** Why it is unscored. */
  code?: string
}

/**
 * An unscored item is neither a pass nor a failure, also if another evaluation has failed it. An evaluation that has
 * nothing to compare the item with leaves it to the others.
 */
export function outcomeOf(item: VerdictItem, { evaluationUuids, countsLabelOf }: Judgment): Outcome {
  let hasPassed: boolean | undefined
  for (const uuid of evaluationUuids) {
    const score = countingScore(item.scores[uuid], countsLabelOf)
    if (score?.hasPassed !== undefined) hasPassed = (hasPassed ?? true) && score.hasPassed
    else if (score?.code !== 'no-expected') return { hasPassed: undefined, code: score?.code ?? missingCode(item) }
  }
  return hasPassed === undefined && evaluationUuids.length > 0 ? { hasPassed, code: 'no-expected' } : { hasPassed }
}

export function isUsedLabel(score: VerdictScore | undefined, countsLabelOf: Judgment['countsLabelOf']): boolean {
  return score?.by === 'person' && (countsLabelOf?.(score.author) ?? true)
}

function countingScore(
  score: VerdictScore | undefined,
  countsLabelOf: Judgment['countsLabelOf'],
): Pick<VerdictScore, 'hasPassed' | 'code'> | undefined {
  if (score?.by !== 'person' || isUsedLabel(score, countsLabelOf)) return score
  return score.auto ?? { code: 'not-labeled' }
}

function missingCode({ outcome, code }: VerdictItem): string {
  if (outcome === 'failed') return code ?? 'failed'
  return outcome === 'ended' ? 'not-scored' : outcome
}

/** The result of each row by arm: `results[arm][row]`. Undefined if no trial of the row has a score. */
export type RowResults = (boolean | undefined)[][]

/** A row passes if more than half of its scored trials pass. A row counts once, however many trials it has. */
export function rowResults({ arms, rows, items }: Verdicts, judgment: Judgment): RowResults {
  const places = new Map(rows.map(({ exampleUuid }, place) => [exampleUuid, place]))
  const balances = Array.from({ length: arms }, () => rows.map(() => ({ scored: 0, balance: 0 })))
  for (const item of items) {
    const place = places.get(item.exampleUuid)
    const row = place === undefined ? undefined : balances[item.arm]?.[place]
    const { hasPassed } = outcomeOf(item, judgment)
    if (!row || hasPassed === undefined) continue
    row.scored += 1
    row.balance += hasPassed ? 1 : -1
  }
  return balances.map((arm) => arm.map(({ scored, balance }) => (scored === 0 ? undefined : balance > 0)))
}
