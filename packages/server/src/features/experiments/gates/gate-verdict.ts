/** Whether one prompt of a draft passes one gate. Pure: everything is read before. */
import type { GateVerdict, VerdictCode } from '@stet/contract/vocabulary'
import { checksName } from '../../evaluations/built-in.ts'
import type { StoredGate } from '../../projects/project.ts'
import type { Experiment } from '../experiment.ts'
import type { Verdicts } from '../ports.ts'
import { armFigures } from '../report/arm-figures.ts'
import { compareArms, passRateOf } from '../report/compare-arms.ts'
import { type Judgment, rowResults } from '../report/outcomes.ts'
import { type JudgingEvaluation, labelUse, shareUnscored, trustCode } from '../report/report.ts'
import { type Evidence, judge } from '../report/verdict.ts'
import { pairedDifference } from '../statistics/paired-difference.ts'
import { signTest } from '../statistics/sign-test.ts'
import { failureInWords, inconclusiveInWords, passInWords } from './gate-words.ts'

const shownRows = 20

/** A prompt that runs differently after the publication. */
export interface GatedPrompt {
  path: string
  /** The path of the prompt in live. Null if live does not have it. */
  livePath: string | null
  documentUuid: string
  fingerprint: string
  /** Null if live does not have the prompt. */
  liveFingerprint: string | null
  /** The authors of the change. Their own labels may not open the gate. */
  authorIds: ReadonlySet<number>
}

export type ComparedExperiment = Pick<Experiment, 'uuid' | 'state' | 'isStale' | 'evaluationUuids'> & {
  arms: readonly { fingerprint: string }[]
}

/** The result that a gate reads. */
export interface GateResultInput {
  experiment: ComparedExperiment
  verdicts: Verdicts
  /** The evaluations of the experiment, with the trust in its judges. */
  evaluations: readonly JudgingEvaluation[]
}

export interface GateInput {
  gate: StoredGate
  place: number
  prompt: GatedPrompt
  /** The experiments with the fingerprints of the prompt, newest first. */
  experiments: readonly ComparedExperiment[]
  /** The newest completed one of them whose rows are those of the prompt now. */
  result: GateResultInput | null
  /** The rows of the prompt now, with the tag of the gate. */
  rows: number
}

/** Returns the experiments that compare the text of the draft with that of live. @param experiments newest first. */
export function comparing<Each extends ComparedExperiment>(
  experiments: readonly Each[],
  prompt: Pick<GatedPrompt, 'fingerprint' | 'liveFingerprint'>,
): Each[] {
  return experiments.filter((each) => armOf(each, prompt) !== undefined)
}

function armOf(
  { arms }: Pick<ComparedExperiment, 'arms'>,
  { fingerprint, liveFingerprint }: Pick<GatedPrompt, 'fingerprint' | 'liveFingerprint'>,
): number | undefined {
  if (liveFingerprint !== null && arms[0]?.fingerprint !== liveFingerprint) return undefined
  const arm = arms.findIndex(
    (each, place) => each.fingerprint === fingerprint && (place > 0 || liveFingerprint === null),
  )
  return arm === -1 ? undefined : arm
}

/** Running only the broken rows again is no result for the prompt. */
export function hasSameRows(
  rows: readonly { exampleUuid: string; rowHash: string }[],
  now: ReadonlyMap<string, string>,
): boolean {
  return rows.length === now.size && rows.every(({ exampleUuid, rowHash }) => now.get(exampleUuid) === rowHash)
}

export function gateVerdict(input: GateInput): GateVerdict {
  const { gate, prompt, experiments, result, rows } = input
  // Nothing is live to compare with, and no pass rate is asked for.
  if (prompt.liveFingerprint === null && gate.passRateAtLeast === undefined) {
    return verdictOf(input, { verdict: 'pass', message: 'A new prompt: there is nothing to compare with.' })
  }
  if (rows === 0 && experiments.length > 0) return inconclusive(input, 'too-few-rows')
  if (!result) return inconclusive(input, missingCode(experiments))
  const { experiment, evaluations } = result
  if (experiment.isStale) return inconclusive(input, 'stale')
  const named = evaluationsNamed(gate, result)
  const missing = gate.evaluations.find((name) => !named.some((evaluation) => evaluation.name === name))
  if (missing !== undefined) {
    const message = `The experiment does not use the evaluation "${missing}".`
    return verdictOf(input, { verdict: 'inconclusive', code: 'unscored', message })
  }
  const distrusted = evaluations.filter(({ uuid }) => named.some((each) => each.uuid === uuid)).map(trustCode)
  const code = distrusted.find((each) => each !== undefined)
  if (code) return inconclusive(input, code)
  return judged(input, result, { evaluationUuids: named.map(({ uuid }) => uuid), countsLabelOf: labelRule(input) })
}

function judged(input: GateInput, { experiment, verdicts }: GateResultInput, judgment: Judgment): GateVerdict {
  const { gate, prompt } = input
  const arm = armOf(experiment, prompt) ?? 0
  const results = rowResults(verdicts, judgment)
  const compared = compareArms(verdicts.rows, results, arm)
  const rate = prompt.liveFingerprint === null ? passRateOf(results, arm) : compared.passRates.arm
  const evidence: Evidence = {
    ...compared,
    rows: rate.rows,
    notPaired: verdicts.rows.length - rate.rows,
    unscored: shareUnscored({ items: itemsOf(verdicts, [0, arm]) }, judgment),
    signP: signTest(compared),
    passRate: rate.rate,
    difference: prompt.liveFingerprint === null ? null : pairedDifference(compared),
    costRatio: armFigures(verdicts, judgment)[arm]?.costRatio ?? null,
  }
  const { verdict, code, failed } = judge(evidence, gate)
  const facts = { gate, evidence, compared, tries: input.experiments.length }
  const words = { pass: passInWords, fail: failureInWords, inconclusive: inconclusiveInWords }[verdict]
  return verdictOf(input, {
    ...{ verdict, code, failed, message: words({ ...facts, code, failed }) },
    ...{ broke: compared.broke, fixed: compared.fixed, same: compared.same, notPaired: evidence.notPaired },
    passRate: evidence.passRate,
    rows: compared.rows.broke.slice(0, shownRows),
    labels: labelUse({ items: itemsOf(verdicts, [0, arm]) }, judgment),
  })
}

function itemsOf({ items }: Verdicts, arms: readonly number[]): Verdicts['items'] {
  return items.filter(({ arm }) => arms.includes(arm))
}

function labelRule({ gate: { labels }, prompt: { authorIds } }: GateInput): NonNullable<Judgment['countsLabelOf']> {
  if (labels === 'others') return (author) => author !== undefined && !authorIds.has(author.id)
  return () => labels === 'all'
}

function evaluationsNamed({ evaluations: names }: StoredGate, { experiment, evaluations }: GateResultInput) {
  return evaluations.filter(
    ({ uuid, name, isChecks = false }) =>
      names.includes(name) &&
      // Another evaluation may have the name of the built-in one.
      isChecks === (name === checksName) &&
      experiment.evaluationUuids.includes(uuid),
  )
}

function missingCode(experiments: readonly ComparedExperiment[]): VerdictCode {
  if (experiments.some(({ state }) => state === 'completed')) return 'rows-changed'
  const [newest] = experiments
  if (!newest) return 'no-experiment'
  return newest.state === 'running' ? 'running' : 'stopped'
}

function inconclusive(input: GateInput, code: VerdictCode): GateVerdict {
  return verdictOf(input, { verdict: 'inconclusive', code, message: inconclusiveInWords({ gate: input.gate, code }) })
}

function verdictOf(
  { place, prompt, experiments, result }: GateInput,
  {
    code,
    ...own
  }: Pick<GateVerdict, 'verdict' | 'message'> & { code?: VerdictCode | undefined } & Partial<Omit<GateVerdict, 'code'>>,
): GateVerdict {
  return {
    path: prompt.path,
    documentUuid: prompt.documentUuid,
    gate: place,
    code: code ?? null,
    failed: [],
    experimentUuid: (result?.experiment ?? experiments[0])?.uuid ?? null,
    tries: experiments.length,
    ...{ broke: 0, fixed: 0, same: 0, notPaired: 0, passRate: null, rows: [] },
    labels: { count: 0, people: [], leftOut: 0 },
    ...own,
  }
}
