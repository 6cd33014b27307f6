import type { Experiment, Report, Verdict, VerdictCode } from '@stet/contract/vocabulary'

/** A row of the report that a reader looks at, with the first evaluation that it fails. */
export interface NotedRow {
  /** `failed` is a row of an experiment without a baseline. */
  kind: 'broke' | 'failed'
  /** The position of the arm in the experiment. */
  arm: number
  exampleUuid: string
  name: string
  must: boolean
  evaluation: string | null
  reason: string | null
  conversationUuid: string | null
}

/** The result of one prompt. */
export interface EvalResult {
  experiment: Experiment
  report: Report
  rows: NotedRow[]
  verdict: Verdict
  code: VerdictCode | null
  /** The verdicts of the project's gates, with `--gate`. */
  gates: { verdict: Verdict; message: string }[]
}

export interface Outcome {
  verdict: Verdict
  code: VerdictCode | null
}

const MAX_UNSCORED = 0.05

/** The verdict of a whole experiment: that of its worst arm. Without a baseline, the rows with the tag `must` decide. */
export function outcomeOf(
  { state, isStale }: Pick<Experiment, 'state' | 'isStale'>,
  { pairs, arms }: Pick<Report, 'pairs' | 'arms'>,
  rows: readonly NotedRow[],
): Outcome {
  const inconclusive = (code: VerdictCode): Outcome => ({ verdict: 'inconclusive', code })
  if (state !== 'completed') return inconclusive(state === 'running' ? 'running' : 'stopped')
  if (isStale) return inconclusive('stale')
  if (pairs.length > 0) return worstOf(pairs.map(({ verdict, code = null }) => ({ verdict, code })))
  if (rows.some(({ must }) => must)) return { verdict: 'fail', code: null }
  const items = arms.reduce((sum, { ended, failed }) => sum + ended + failed, 0)
  const unscored = arms.flatMap((arm) => arm.unscored).reduce((sum, { count }) => sum + count, 0)
  if (items === 0) return inconclusive('too-few-rows')
  return unscored / items > MAX_UNSCORED ? inconclusive('unscored') : { verdict: 'pass', code: null }
}

const badness = { pass: 0, inconclusive: 1, fail: 2 } as const

export function worstOf(outcomes: readonly Outcome[]): Outcome {
  const [worst] = outcomes.toSorted((one, other) => badness[other.verdict] - badness[one.verdict])
  return { verdict: worst?.verdict ?? 'pass', code: worst?.code ?? null }
}

const codeWords: Readonly<Record<VerdictCode, string>> = {
  'no-experiment': 'no experiment compares these texts',
  running: 'the experiment is still running',
  stopped: 'the experiment ended early',
  stale: 'the text of an agent, a provider key or a default changed meanwhile',
  'rows-changed': 'the examples changed meanwhile',
  'too-few-rows': 'too few examples were compared',
  unscored: 'more than 5 % of the answers have no score',
  'judge-changed': 'the judge was edited meanwhile',
  'judge-not-validated': 'the judge has not been shown to agree with people',
}

export function sayCode(code: VerdictCode | null): string {
  return code === null ? 'no result' : codeWords[code]
}
