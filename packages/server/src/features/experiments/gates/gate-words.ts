/** The verdict of a gate in one sentence. */
import type { VerdictCode } from '@stet/contract/vocabulary'
import type { StoredGate } from '../../projects/project.ts'
import type { Comparison } from '../report/compare-arms.ts'
import { type Evidence, type FailedCondition, unscoredShare } from '../report/verdict.ts'
import { countsInWords, percent } from '../report/words.ts'

interface Facts {
  gate: StoredGate
  evidence: Evidence
  compared: Comparison
  failed: readonly FailedCondition[]
  code?: VerdictCode | undefined
  tries: number
}

export function passInWords({ compared, tries }: Facts): string {
  return `${countsInWords(compared)}${inTries(tries)}.`
}

export function failureInWords(facts: Facts): string {
  const reasons = facts.failed.map((condition) => reasonOf[condition](facts))
  return `${countsInWords(facts.compared)}${inTries(facts.tries)}: ${reasons.join('; ')}.`
}

export function inconclusiveInWords({ gate, code, evidence }: Partial<Facts> & Pick<Facts, 'gate'>): string {
  const tagged = gate.tag === undefined ? '' : ` with the tag ${gate.tag}`
  if (code === 'too-few-rows') {
    return evidence
      ? `Only ${evidence.rows} rows have a score in both, and the gate asks for ${gate.minRows}.`
      : `The prompt has no rows${tagged}.`
  }
  if (code === 'unscored' && evidence) {
    if (unscoredShare(evidence) <= gate.maxUnscored) return 'The cost of an answer is unknown, and the gate limits it.'
    return `${percent(unscoredShare(evidence))} have no score, and the gate allows ${percent(gate.maxUnscored)}.`
  }
  return `${sentences[code ?? 'no-experiment']}`
}

const sentences: Record<VerdictCode, string> = {
  'no-experiment': 'No experiment has compared this text with live.',
  running: 'The experiment is still running.',
  stopped: 'The experiment was stopped before its end.',
  stale: 'An agent, a provider key or a default changed during the experiment.',
  'rows-changed': 'The rows are no longer those of the experiment.',
  'too-few-rows': 'There are too few rows.',
  unscored: 'The answers have no scores.',
  'judge-changed': 'The judge was edited after the experiment.',
  'judge-not-validated': 'The judge has not been shown to agree with people.',
}

const reasonOf: Record<FailedCondition, (facts: Facts) => string> = {
  must: ({ compared }) => `${compared.brokeMust} with the tag must broke`,
  sign: ({ evidence }) => `more rows broke than chance explains (p = ${evidence.signP.toFixed(3)})`,
  maxBroken: ({ gate }) => `at most ${gate.maxBroken} may break`,
  passRateAtLeast: ({ gate, evidence }) =>
    `${percent(evidence.passRate)} pass, and the gate asks for ${percent(gate.passRateAtLeast ?? 0)}`,
  noWorseBy: ({ gate }) =>
    `the rows do not rule out a loss of more than ${Math.round((gate.noWorseBy ?? 0) * 100)} points`,
  maxCostRatio: ({ gate, evidence }) =>
    evidence.costRatio === Number.POSITIVE_INFINITY
      ? `it costs money where live is free, and the gate allows ${gate.maxCostRatio} times the cost`
      : `it costs ${evidence.costRatio?.toFixed(2)} times as much as live, and the gate allows ${gate.maxCostRatio}`,
}

/** People see how often a text was tried until it passed. */
function inTries(tries: number): string {
  if (tries < 2) return ''
  const tens = Math.floor((tries % 100) / 10)
  const ending = tens === 1 ? 'th' : (['th', 'st', 'nd', 'rd'][tries % 10] ?? 'th')
  return ` (${tries}${ending} try)`
}
