/** What an experiment shows: computed from its items whenever it is read. */
import type { LabelUse, Report, ReportEvaluation, ReportPair, VerdictCode } from '@stet/contract/vocabulary'
import type { Author } from '../../../shared/caller.ts'
import type { Experiment } from '../experiment.ts'
import type { Verdicts } from '../ports.ts'
import { pairedDifference } from '../statistics/paired-difference.ts'
import { signTest, signTestPower } from '../statistics/sign-test.ts'
import { armFigures } from './arm-figures.ts'
import { compareArms } from './compare-arms.ts'
import { isUsedLabel, type Judgment, outcomeOf, type RowResults, rowResults } from './outcomes.ts'
import { defaultConditions, judge, unscoredShare } from './verdict.ts'
import { wordsOf } from './words.ts'

const shownRows = 200
const shownPeople = 20
const fewRows = 20
const losses = [0.2, 0.1]

/** An evaluation of the experiment. */
export interface JudgingEvaluation extends Pick<ReportEvaluation, 'uuid' | 'name' | 'type'> {
  /** True for the evaluation that scores the checks of the rows. */
  isChecks?: boolean
  /** Of a judge: whether it agrees with people, for the text that the experiment used. */
  trust?: 'validated' | 'not-validated' | 'changed'
}

interface ReportInput {
  experiment: Pick<Experiment, 'uuid' | 'state' | 'isStale' | 'trials'>
  verdicts: Verdicts
  evaluations: readonly JudgingEvaluation[]
  /** One evaluation, or null for all that count together. */
  evaluationUuid: string | null
  /** True if the demo provider gave the answers. */
  isDemo: boolean
}

export function makeReport(input: ReportInput): Report {
  const { experiment, verdicts, evaluationUuid } = input
  const evaluations = evaluationsOf(input)
  const judgment: Judgment = { evaluationUuids: chosen(evaluations, evaluationUuid) }
  const results = rowResults(verdicts, judgment)
  const arms = armFigures(verdicts, judgment)
  const unscored = shareUnscored(verdicts, judgment)
  const judged = input.evaluations.find(({ uuid }) => uuid === evaluationUuid)
  const invalid = invalidCode(experiment) ?? trustCode(judged)
  const powerFor = powerByRows()
  const pairs = verdicts.arms < 2 ? [] : Array.from({ length: verdicts.arms - 1 }, (_, place) => place + 1)
  const report = {
    experimentUuid: experiment.uuid,
    evaluationUuid,
    rows: verdicts.rows.length,
    trials: experiment.trials,
    pairs: pairs.map((arm) => pairOf(input, { results, arm, unscored, invalid, powerFor })),
    evaluations,
    arms: arms.map((arm) => ({ ...arm, costRatio: finite(arm.costRatio), durationRatio: finite(arm.durationRatio) })),
    labels: labelUse(verdicts, judgment),
  }
  return { ...report, warnings: warningsOf(input, report, unscored) }
}

function finite(ratio: number | null): number | null {
  return Number.isFinite(ratio) ? ratio : null
}

/** Why an experiment gives no verdict, whatever its items say. */
function invalidCode({ state, isStale }: Pick<Experiment, 'state' | 'isStale'>): VerdictCode | undefined {
  if (state === 'running') return 'running'
  if (state !== 'completed') return 'stopped'
  return isStale ? 'stale' : undefined
}

export function trustCode(evaluation: JudgingEvaluation | undefined): VerdictCode | undefined {
  if (evaluation?.trust === 'changed') return 'judge-changed'
  return evaluation?.trust === 'not-validated' ? 'judge-not-validated' : undefined
}

interface PairInput {
  results: RowResults
  arm: number
  unscored: number
  invalid: VerdictCode | undefined
  powerFor: ReturnType<typeof powerByRows>
}

/** Most pairs have the same number of rows, and the sums take longer than the rest of a pair. */
function powerByRows(): (rows: number) => ReportPair['power'] {
  const known = new Map<number, ReportPair['power']>()
  return (rows) => {
    const found =
      known.get(rows) ?? losses.map((loss) => ({ loss, share: Math.round(signTestPower(rows, loss) * 100) / 100 }))
    known.set(rows, found)
    return found
  }
}

function pairOf(
  { verdicts, evaluationUuid }: ReportInput,
  { results, arm, unscored, invalid, powerFor }: PairInput,
): ReportPair {
  const { rows, ...compared } = compareArms(verdicts.rows, results, arm)
  const count = compared.passRates.arm.rows
  const difference = pairedDifference(compared)
  const p = signTest(compared)
  const passRate = compared.passRates.arm.rate
  const evidence = { ...compared, rows: count, unscored, signP: p, passRate, difference, costRatio: null }
  const { verdict, code } = invalid
    ? { verdict: 'inconclusive' as const, code: invalid }
    : judge(evidence, defaultConditions)
  const power = powerFor(count)
  return {
    baseline: 0,
    arm,
    evaluationUuid,
    ...compared,
    rows: { broke: rows.broke.slice(0, shownRows), fixed: rows.fixed.slice(0, shownRows) },
    difference,
    sign: { p },
    power,
    verdict,
    ...(code && { code }),
    words: wordsOf({ ...compared, difference, power }),
  }
}

function chosen(evaluations: readonly ReportEvaluation[], evaluationUuid: string | null): string[] {
  if (evaluationUuid !== null) return [evaluationUuid]
  return evaluations.filter(({ counts }) => counts).map(({ uuid }) => uuid)
}

/** Returns the evaluations that decide about a row: the given one, or all that count together. */
export function decidingEvaluations(
  input: Pick<ReportInput, 'verdicts' | 'evaluations'>,
  evaluationUuid: string | null,
): string[] {
  return chosen(evaluationUuid === null ? evaluationsOf(input) : [], evaluationUuid)
}

/** Adds to each evaluation whether it counts among all together, and what it shows alone. */
function evaluationsOf({ verdicts, evaluations }: Pick<ReportInput, 'verdicts' | 'evaluations'>): ReportEvaluation[] {
  const leftOut = new Map(evaluations.map((each) => [each.uuid, leftOutBecause(verdicts, each)]))
  // If people score everything, their scores are the result.
  const isOnlyHuman = evaluations.every(({ type, uuid }) => type === 'human' || leftOut.get(uuid) === 'no-expected')
  return evaluations.map((evaluation) => {
    const { uuid, name, type } = evaluation
    const because = leftOut.get(uuid)
    const isByPeople = because === 'human' || (because === 'no-expected' && isLabeled(verdicts, uuid))
    const counts = because === undefined || (isOnlyHuman && isByPeople)
    const results = rowResults(verdicts, { evaluationUuids: [uuid] })
    const arms = results.map((_, arm) => compareArms(verdicts.rows, results, arm))
    const changes = { broke: arms.map(({ broke }) => broke), fixed: arms.map(({ fixed }) => fixed) }
    return { uuid, name, type, counts, ...(!counts && because && { leftOut: because }), ...changes }
  })
}

function isLabeled({ items }: Verdicts, uuid: string): boolean {
  return items.some(({ scores: { [uuid]: score } }) => score?.by === 'person')
}

function leftOutBecause({ items }: Verdicts, { uuid, type, trust }: JudgingEvaluation): ReportEvaluation['leftOut'] {
  if (type === 'human') return 'human'
  if (trust === 'changed' || trust === 'not-validated') return trust
  // People may label answers that the evaluation itself has nothing to compare with.
  const found = items.flatMap(({ scores: { [uuid]: score } }) => (score?.by === 'person' ? score.auto : score) ?? [])
  return found.length > 0 && found.every(({ code }) => code === 'no-expected') ? 'no-expected' : undefined
}

export function shareUnscored({ items }: Pick<Verdicts, 'items'>, judgment: Judgment): number {
  const missing = items.filter((item) => outcomeOf(item, judgment).hasPassed === undefined)
  return items.length === 0 ? 1 : missing.length / items.length
}

/** Counts the labels of the evaluations that count. */
export function labelUse({ items }: Pick<Verdicts, 'items'>, { evaluationUuids, countsLabelOf }: Judgment): LabelUse {
  const counts = new Map<number, { author: Author; count: number }>()
  let [count, leftOut] = [0, 0]
  for (const { scores } of items) {
    for (const uuid of evaluationUuids) {
      const score = scores[uuid]
      if (score?.by !== 'person') continue
      if (!isUsedLabel(score, countsLabelOf)) leftOut += 1
      else {
        count += 1
        const { author } = score
        if (author) counts.set(author.id, { author, count: (counts.get(author.id)?.count ?? 0) + 1 })
      }
    }
  }
  const people = [...counts.values()].sort((a, b) => b.count - a.count).map(({ author }) => author)
  return { count, people: people.slice(0, shownPeople), leftOut }
}

function warningsOf(
  { experiment, isDemo }: ReportInput,
  { pairs, arms }: Pick<Report, 'pairs' | 'arms'>,
  unscored: number,
): Report['warnings'] {
  const { state, isStale } = experiment
  const compared = pairs.map(({ passRates, notPaired }) => ({ rows: passRates.arm.rows, notPaired, unscored }))
  const isUnscored = (each: (typeof compared)[number]) => unscoredShare(each) > defaultConditions.maxUnscored
  const warnings: [Report['warnings'][number], boolean][] = [
    ['running', state === 'running'],
    ['stopped', state === 'stopped' || state === 'failed'],
    ['stale', isStale],
    ['demo', isDemo],
    ['few-rows', compared.some(({ rows }) => rows < fewRows)],
    ['unscored', compared.some(isUnscored)],
    ['unknown-cost', arms.some(({ costUsd }) => costUsd === null)],
  ]
  return warnings.flatMap(([warning, applies]) => (applies ? warning : []))
}
