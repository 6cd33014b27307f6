/** The verdict of a comparison: the default one, and the optional conditions of a gate. */
import type { Gate, GateVerdict, Verdict, VerdictCode } from '@stet/contract/vocabulary'
import type { PairedDifference } from '../statistics/paired-difference.ts'
import { significance } from '../statistics/sign-test.ts'
import type { Comparison } from './compare-arms.ts'

export type FailedCondition = GateVerdict['failed'][number]

export interface Evidence extends Pick<Comparison, 'broke' | 'brokeMust' | 'notPaired'> {
  /** The rows that are compared. */
  rows: number
  /** The share of the items without a score. */
  unscored: number
  signP: number
  passRate: number | null
  difference: Pick<PairedDifference, 'lowOneSided'> | null
  costRatio: number | null
}

export type Conditions = Pick<Gate, 'maxBroken' | 'passRateAtLeast' | 'noWorseBy' | 'maxCostRatio'> &
  Required<Pick<Gate, 'minRows' | 'maxUnscored'>>

/** What holds without a gate. */
export const defaultConditions: Conditions = { minRows: 1, maxUnscored: 0.05 }

export interface Judged {
  verdict: Verdict
  code?: VerdictCode
  failed: FailedCondition[]
}

/** A failure with few rows or some missing scores is still a failure. A pass needs enough of both. */
export function judge(evidence: Evidence, conditions: Conditions): Judged {
  const failed = failedConditions(evidence, conditions)
  if (failed.length > 0) return { verdict: 'fail', failed }
  const isUnscored = unscoredShare(evidence) > conditions.maxUnscored || isCostUnknown(evidence, conditions)
  if (isUnscored) return { verdict: 'inconclusive', code: 'unscored', failed }
  if (evidence.rows < conditions.minRows) return { verdict: 'inconclusive', code: 'too-few-rows', failed }
  return { verdict: 'pass', failed }
}

/** A condition against live that cannot be checked is not met. Without a difference there is no live to compare with. */
function isCostUnknown(
  { costRatio, difference }: Pick<Evidence, 'costRatio' | 'difference'>,
  { maxCostRatio }: Pick<Conditions, 'maxCostRatio'>,
): boolean {
  return maxCostRatio !== undefined && costRatio === null && difference !== null
}

/** Some trials of a row may lack a score although the row has one. */
export function unscoredShare({
  rows,
  notPaired,
  unscored,
}: Pick<Evidence, 'rows' | 'notPaired' | 'unscored'>): number {
  const all = rows + notPaired
  return all === 0 ? 1 : Math.max(unscored, notPaired / all)
}

function failedConditions(evidence: Evidence, conditions: Conditions): FailedCondition[] {
  const { maxBroken, passRateAtLeast, noWorseBy, maxCostRatio } = conditions
  const { broke, brokeMust, signP, passRate, difference, costRatio } = evidence
  const isAbove = (value: number | null, most: number | undefined) =>
    most !== undefined && value !== null && value > most
  const isBelow = (value: number | null | undefined, least: number | undefined) =>
    least !== undefined && typeof value === 'number' && value < least
  const checks: [FailedCondition, boolean][] = [
    ['must', brokeMust > 0],
    ['sign', signP < significance],
    ['maxBroken', isAbove(broke, maxBroken)],
    ['passRateAtLeast', isBelow(passRate, passRateAtLeast)],
    ['noWorseBy', isBelow(difference?.lowOneSided, noWorseBy === undefined ? undefined : -noWorseBy)],
    ['maxCostRatio', isAbove(costRatio, maxCostRatio)],
  ]
  return checks.flatMap(([name, isFailed]) => (isFailed ? name : []))
}
