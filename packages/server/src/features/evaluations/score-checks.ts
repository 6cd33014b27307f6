/** Scores one answer by a list of checks. Rows and rule evaluations share it. */
import type { Check } from '@stet/contract/vocabulary'
import { judgedValue } from './checks/judged-value.ts'
import { containsCheck, exactCheck, limitCheck } from './checks/plain-checks.ts'
import type { CheckRunner, Score, ScoredAnswer } from './checks/score.ts'

export interface ChecksInput {
  checks: readonly Check[]
  /** Undefined if the row expects nothing. */
  expected?: unknown
  answer: ScoredAnswer
}

/**
 * Passes if all checks pass. The reason names the first that failed. A failure outweighs checks that cannot be scored,
 * because no result of theirs could let the answer pass.
 * @throws AppError ServiceUnavailableError of `runner`.
 */
export async function scoreChecks(runner: CheckRunner, input: ChecksInput): Promise<Score> {
  const { checks, answer } = input
  const { error } = answer
  if (error && !error.isOwn) return { state: 'unscored', code: error.code, reason: 'The run failed' }
  if (checks.length === 0) return { state: 'unscored', code: 'no-expected', reason: 'The row has no checks' }
  if (error && !checks.every(({ type }) => type === 'cost' || type === 'latency')) {
    return { state: 'scored', hasPassed: false, reason: `The run failed: ${error.code}` }
  }
  let unscored: Score | undefined
  for (const check of checks) {
    const score = await scoreCheck(runner, check, input)
    if (score.state === 'unscored') unscored ??= score
    else if (!score.hasPassed) return score
  }
  return unscored ?? { state: 'scored', hasPassed: true }
}

async function scoreCheck(runner: CheckRunner, check: Check, { expected, answer }: ChecksInput): Promise<Score> {
  if (check.type === 'cost' || check.type === 'latency') return limitCheck(check, answer)
  const value = judgedValue(check, answer)
  if ('missing' in value) return { state: 'scored', hasPassed: false, reason: value.missing }
  if (check.type === 'exact') return exactCheck(check, value, expected)
  if (check.type === 'contains') return containsCheck(check, value, expected)
  return runner(check, value)
}
