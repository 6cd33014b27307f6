/** Results of experiments, as the server's contract describes them. */
import type { Experiment, GateVerdict, Report, ReportPair } from '@stet/contract/vocabulary'
import experiments from '../../../contract/samples/experiments.json' with { type: 'json' }
import gates from '../../../contract/samples/gates.json' with { type: 'json' }
import reports from '../../../contract/samples/reports.json' with { type: 'json' }
import type { EvalResult, NotedRow } from '../../src/commands/eval/report/eval-result.ts'

const experiment = experiments.Experiment.valid as Experiment
const [live] = experiment.arms
const report = reports.Report.valid as Report
const [pair] = report.pairs

export function pairWith(changes: Partial<ReportPair> = {}): ReportPair {
  if (!pair) throw new Error('the sample of the contract compares nothing')
  return { ...pair, ...changes }
}

export function armNamed(label: string): Experiment['arms'][number] {
  if (!live) throw new Error('the sample of the contract has no arm')
  return { ...live, label }
}

export const broken: NotedRow = {
  kind: 'broke',
  arm: 1,
  exampleUuid: pairWith().rows.broke[0]?.exampleUuid ?? '',
  name: 'angry-customer',
  must: true,
  evaluation: 'Checks',
  reason: 'does not contain "refund"',
  conversationUuid: '9f0d6c1e-5b6a-5978-8695-a4b3c2d1e0f9',
}

/** 3 of 50 rows broke between live v12 and a draft. */
export function resultWith(
  changes: Partial<Omit<EvalResult, 'experiment' | 'report'>> & {
    experiment?: Partial<Experiment>
    report?: Partial<Report>
  } = {},
): EvalResult {
  return {
    verdict: 'fail',
    code: null,
    rows: [broken],
    gates: [],
    ...changes,
    experiment: {
      ...experiment,
      path: 'support/refund',
      arms: [armNamed('live v12'), armNamed('draft "tone pass"')],
      finishedAt: '2026-01-02T03:06:15.678Z',
      ...changes.experiment,
    },
    report: { ...report, ...changes.report },
  }
}

/** Without a baseline. */
export function aloneWith(changes: Parameters<typeof resultWith>[0] = {}): EvalResult {
  const [figures] = report.arms
  return resultWith({
    rows: [{ ...broken, kind: 'failed', arm: 0 }],
    ...changes,
    experiment: { arms: [armNamed('draft "tone pass"')], ...changes.experiment },
    report: { pairs: [], arms: figures ? [figures] : [], ...changes.report },
  })
}

/** The verdict of a gate for the prompt `other`. */
export function gateWith(changes: Partial<GateVerdict>): GateVerdict {
  return { ...(gates.GateVerdict.valid as GateVerdict), path: 'other', gate: 0, ...changes }
}
