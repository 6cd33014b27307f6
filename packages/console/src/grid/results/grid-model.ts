/** What the grid shows and how the keyboard moves in it. Pure. */
import type { Experiment, ExperimentItem, ExperimentRow, ItemScore, ReportEvaluation } from '@stet/contract/vocabulary'

/** What of an experiment is shown. */
export interface View {
  filter: 'broke' | 'fixed' | 'failed' | 'differs' | 'unscored' | undefined
  /** The arm that is compared with the baseline. */
  arm: number
  /** Null for all that count together. */
  evaluation: string | null
}

export interface Cell {
  row: number
  arm: number
}

const pageStep = 5

/** The cell that a key leads to. Undefined for other keys, and at the edge. */
export function moved({ row, arm }: Cell, key: string, rows: number, arms: number): Cell | undefined {
  const steps: Record<string, Cell> = {
    ArrowDown: { row: row + 1, arm },
    ArrowUp: { row: row - 1, arm },
    ArrowRight: { row, arm: arm + 1 },
    ArrowLeft: { row, arm: arm - 1 },
    PageDown: { row: Math.min(row + pageStep, rows - 1), arm },
    PageUp: { row: Math.max(row - pageStep, 0), arm },
    Home: { row, arm: 0 },
    End: { row, arm: arms - 1 },
  }
  const next = steps[key]
  if (!next || next.row < 0 || next.row >= rows || next.arm < 0 || next.arm >= arms) return undefined
  return next
}

/** How many rows an experiment has: each has an item for every arm and trial. */
export function rowsOf({ counts, arms, trials }: Pick<Experiment, 'counts' | 'arms' | 'trials'>): number {
  return counts.total / (arms.length * trials)
}

/** The items of a cell, one for each trial. */
export function itemsOf({ items }: ExperimentRow, arm: number): ExperimentItem[] {
  return items.filter((item) => item.arm === arm)
}

/** The item whose answer a cell shows: the first that fails, so that a reader sees what is wrong. */
export function shownItem(items: readonly ExperimentItem[], evaluation: string | null): ExperimentItem | undefined {
  return items.find((item) => verdictOf(item, evaluation) === false) ?? items[0]
}

/** Whether an item passes one evaluation, or all that have a score. Null if it has none. */
function verdictOf({ scores }: Pick<ExperimentItem, 'scores'>, evaluation: string | null): boolean | null {
  const counted = scores.filter(({ evaluationUuid }) => evaluation === null || evaluationUuid === evaluation)
  const verdicts = counted.flatMap(({ passed }) => (passed === null ? [] : [passed]))
  return verdicts.length === 0 ? null : verdicts.every(Boolean)
}

/** The mark of an evaluation at an item that has ended, and how and why it decided so. */
export function markOf(scores: readonly ItemScore[], evaluation: string, name: string) {
  const score = scores.find(({ evaluationUuid }) => evaluationUuid === evaluation)
  const { passed = null, by = 'auto', code = null, reason = null } = score ?? {}
  const isLabel = by === 'person'
  const says = passed === null ? `not scored${code ? ` (${code})` : ''}` : passed ? 'passes' : 'fails'
  const text = `${name}: ${says}${isLabel ? ', labeled by a person' : ''}${reason ? `. ${reason}` : ''}`
  if (passed === null) return { sign: '○', tone: 'none', text, isLabel }
  return { sign: passed ? '✓' : '✗', tone: passed ? 'pass' : 'fail', text, isLabel }
}

/** An evaluation as the report lists it. */
export type Judging = Pick<ReportEvaluation, 'uuid' | 'counts'>

/**
 * The evaluation that a label without a choice goes to: the first one that counts, otherwise `Checks`. A label of one
 * that does not count would make it count, and so change the result of rows that nobody labeled.
 */
export function labeledBy(
  { evaluations }: Pick<Experiment, 'evaluations'>,
  judging: readonly Judging[],
  chosen: string | null,
): string | null {
  if (chosen !== null) return chosen
  const counting = judging.find(({ counts }) => counts)
  return (counting ?? evaluations.find(({ name }) => name === 'Checks') ?? evaluations[0])?.uuid ?? null
}

/** Whether a row passes: more than half of its scored trials pass the evaluations that count, as in the report. */
export function rowVerdictOf(items: readonly ExperimentItem[], judging: readonly Judging[]): boolean | null {
  const counting = new Set(judging.flatMap(({ uuid, counts }) => (counts ? [uuid] : [])))
  const verdicts = items.flatMap((item) => {
    const scores = item.scores.filter(({ evaluationUuid, passed }) => counting.has(evaluationUuid) && passed !== null)
    // An item without all of them is not scored.
    return scores.length < counting.size ? [] : (verdictOf({ scores }, null) ?? [])
  })
  return verdicts.length === 0 ? null : verdicts.filter(Boolean).length * 2 > verdicts.length
}

/** The row with a label of a person in place of the score that it had. */
export function withScore(row: ExperimentRow, itemUuid: string, score: ItemScore): ExperimentRow {
  const items = row.items.map((item) => {
    if (item.uuid !== itemUuid) return item
    const others = item.scores.filter(({ evaluationUuid }) => evaluationUuid !== score.evaluationUuid)
    return { ...item, scores: [...others, score] }
  })
  return { ...row, items }
}
