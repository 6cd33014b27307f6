/** `pnpm bench:report`: the time that the report of an experiment takes, in a process without other work. */
import type { VerdictItem, Verdicts } from '../../../packages/server/src/features/experiments/ports.ts'
import { makeReport } from '../../../packages/server/src/features/experiments/report/report.ts'
import { type Candidate, compare, percentile } from '../measuring/rounds.ts'

const reports = Number(process.env['REQUESTS'] ?? 50)
const evaluations = ['checks', 'rule', 'code'].map((uuid) => ({ uuid, name: uuid, type: 'rule' }))

/** Every eighth score differs between the arms. */
function verdictsOf(rows: number, arms: number): Verdicts {
  const items = Array.from({ length: rows * arms }, (_, place): VerdictItem => {
    const [arm, row] = [place % arms, Math.floor(place / arms)]
    const hasPassed = (row * (arm + 1)) % 8 !== 0
    const scores = Object.fromEntries(evaluations.map(({ uuid }) => [uuid, { hasPassed, by: 'auto' as const }]))
    const figures = { costUsd: 0.001 * (arm + 1), durationMs: 900 + (row % 100) }
    return { uuid: `${place}`, arm, exampleUuid: `row-${row}`, outcome: 'ended', ...figures, scores }
  })
  const described = Array.from({ length: rows }, (_, row) => {
    return { exampleUuid: `row-${row}`, name: `row ${row}`, tags: [], rowHash: '' }
  })
  return { arms, rows: described, items }
}

function candidateOf(rows: number, arms: number): Candidate {
  const verdicts = verdictsOf(rows, arms)
  const experiment = { uuid: 'bench', state: 'completed' as const, isStale: false, trials: 1 }
  const round = async () => {
    const times = Array.from({ length: reports }, () => {
      const startedMs = performance.now()
      makeReport({ experiment, verdicts, evaluations, evaluationUuid: null, isDemo: false })
      return performance.now() - startedMs
    })
    return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) }
  }
  return { name: `${rows} rows × ${arms} arms`, round }
}

await compare({
  bench: 'report of an experiment',
  measures: [
    { name: 'p50Ms', title: 'p50 ms', digits: 2, isCompared: true },
    { name: 'p99Ms', title: 'p99 ms', digits: 2, isCompared: true },
  ],
  control: candidateOf(50, 2),
  others: [candidateOf(1_000, 2), candidateOf(1_000, 4)],
})
