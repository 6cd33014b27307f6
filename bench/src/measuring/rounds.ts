/** Runs all subjects in turn (A B C A B C …) and discards the first round; medians, and ratios to the control. */
import { describeMachine } from '../subjects/machine.ts'

/** The figures of one round, by measure. */
export type Figures = Readonly<Record<string, number>>

export interface Measure {
  /** Key of the figures. */
  name: string
  /** Column header, with the unit. */
  title: string
  digits: number
  /** Whether to show the ratio to the control. */
  isCompared: boolean
}

export interface Candidate {
  name: string
  round(): Promise<Figures>
}

export interface Comparison {
  bench: string
  /** The columns; the first one decides whether the control's own rounds were noisy. */
  measures: readonly [Measure, ...Measure[]]
  control: Candidate
  others: readonly Candidate[]
  /** Limit for the ratio of the first measure to the control; none by default. */
  limit?: number
}

/** CPU, throughput and times of requests or chunks. */
export const loadMeasures: Comparison['measures'] = [
  { name: 'cpuMicros', title: 'CPU µs/unit', digits: 1, isCompared: true },
  { name: 'unitsPerSecond', title: 'units/s', digits: 0, isCompared: true },
  { name: 'p50Ms', title: 'p50 ms', digits: 2, isCompared: true },
  { name: 'p99Ms', title: 'p99 ms', digits: 2, isCompared: true },
]

const noiseLimit = 0.15
const countedRounds = Number(process.env['ROUNDS'] ?? 3)

/**
 * Runs the rounds, prints JSON lines and a table. Sets exit code 2 if the control's own rounds differ too much, or 1 if a
 * subject exceeds its limit.
 */
export async function compare({ bench, measures, control, others, limit }: Comparison): Promise<void> {
  const candidates = [control, ...others]
  const results = new Map<string, Figures[]>(candidates.map(({ name }) => [name, []]))
  for (let round = 0; round <= countedRounds; round += 1) {
    for (const candidate of candidates) {
      const figures = await candidate.round()
      if (round === 0) continue
      results.get(candidate.name)?.push(figures)
      console.log(JSON.stringify({ bench, candidate: candidate.name, round, ...figures }))
    }
  }
  console.log(JSON.stringify({ bench, ...describeMachine() }))
  console.log(`\n${bench}: medians of ${countedRounds} interleaved rounds; ratios against ${control.name}`)
  printTable(measures, control.name, results)
  const figuresOf = ({ name }: Candidate) => (results.get(name) ?? []).map((figures) => figures[measures[0].name] ?? 0)
  const own = figuresOf(control)
  const spread = (Math.max(...own) - Math.min(...own)) / (percentile(own, 0.5) || 1)
  if (spread > noiseLimit) {
    console.log(
      `noisy: the control's own rounds differ by ${(spread * 100).toFixed(0)} %, so these figures prove nothing`,
    )
    process.exitCode = 2
  } else if (limit !== undefined) {
    const base = percentile(own, 0.5)
    const above = others.filter((other) => percentile(figuresOf(other), 0.5) > limit * base)
    for (const { name } of above) console.log(`${name}: above the limit of ${limit}x`)
    if (above.length > 0) process.exitCode = 1
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function printTable(measures: readonly Measure[], control: string, results: Map<string, Figures[]>): void {
  const median = (candidate: string, measure: Measure): number =>
    percentile(
      (results.get(candidate) ?? []).map((figures) => figures[measure.name] ?? 0),
      0.5,
    )
  console.log(
    row(
      '',
      measures.flatMap(({ title, isCompared }) => (isCompared ? [title, 'ratio'] : [title])),
    ),
  )
  for (const name of results.keys()) {
    const cells = measures.flatMap((measure) => {
      const mine = median(name, measure)
      const shown = mine.toFixed(measure.digits)
      return measure.isCompared ? [shown, ratio(mine, median(control, measure))] : [shown]
    })
    console.log(row(name, cells))
  }
}

function ratio(mine: number, base: number): string {
  return base === 0 ? '-' : `${(mine / base).toFixed(2)}x`
}

function row(name: string, cells: readonly string[]): string {
  return name.padEnd(30) + cells.map((cell) => cell.padStart(13)).join('')
}
