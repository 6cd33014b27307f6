/** Runs all candidates in turn (A B C A B C …) and discards the first round. */
import { describeMachine } from '../subjects/machine.ts'
import type { Subject } from '../subjects/subject.ts'
import { comparePairs, pairOf } from './paired.ts'
import { printTable } from './table.ts'

/** The figures of one round, by measure. A figure is absent if a candidate does not have it. */
export type Figures = Readonly<Record<string, number>>

export interface Measure {
  name: string
  title: string
  digits: number
  isCompared: boolean
}

export interface Candidate {
  name: string
  round(): Promise<Figures>
  /** The subject that `--profile` profiles during an additional round. */
  subject?: Subject
}

export interface Comparison {
  bench: string
  /** The columns. The first one, also at 0 ms, decides whether the control's rounds were noisy. */
  measures: readonly [Measure, ...Measure[]]
  control: Candidate
  others: readonly Candidate[]
  /** Limits the first measure's ratio to the control. Default: no limit. */
  limit?: number
}

/** A subject near 100% of its core limits the throughput. */
export const loadMeasures: Comparison['measures'] = [
  { name: 'cpuMicros', title: 'CPU µs/unit', digits: 1, isCompared: true },
  { name: 'unitsPerSecond', title: 'units/s', digits: 0, isCompared: true },
  { name: 'corePercent', title: '% of a core', digits: 0, isCompared: false },
  { name: 'p50Ms', title: 'p50 ms', digits: 2, isCompared: true },
  { name: 'p99Ms', title: 'p99 ms', digits: 2, isCompared: true },
]

const noiseLimit = 0.15
const countedRounds = Number(process.env['ROUNDS'] ?? 3)
const only = process.env['ONLY']

/** The last JSON line of a comparison, which `pnpm bench` reads. */
export interface Summary {
  bench: string
  medians: Record<string, Figures>
  /** The relative difference between the control's rounds, 0 or more. */
  spread: number
  isNoisy: boolean
}

/**
 * Runs the rounds and prints JSON lines and a table, unless `ONLY` excludes the comparison. Sets exit code 2 if the
 * result is noisy, otherwise 1 if a candidate exceeds the limit.
 */
export async function compare(comparison: Comparison): Promise<void> {
  const { bench, control, others } = comparison
  if (only !== undefined && !new RegExp(only).test(bench)) return
  const candidates = [control, ...others]
  const pair = pairOf(candidates)
  if (pair) return comparePairs(bench, pair, countedRounds)
  const results = await runRounds(bench, candidates)
  const medians = Object.fromEntries([...results].map(([name, rounds]) => [name, mediansOf(rounds)]))
  const spread = spreadOf(comparison, results.get(control.name) ?? [])
  // A single round has no spread.
  const isNoisy = spread > noiseLimit || countedRounds < 2
  console.log(JSON.stringify({ bench, ...describeMachine() }))
  console.log(JSON.stringify({ bench, medians, spread, isNoisy } satisfies Summary))
  console.log(`\n${bench}: medians of ${countedRounds} interleaved rounds; ratios against ${control.name}`)
  printTable(comparisonRows(comparison, medians))
  if (isNoisy) {
    const why = countedRounds < 2 ? 'one round' : `the control's own rounds differ by ${(spread * 100).toFixed(0)} %`
    console.log(`noisy: ${why}, so these figures prove nothing`)
    process.exitCode = 2
  } else if (isAboveLimit(comparison, medians)) process.exitCode = 1
  for (const { subject, round } of candidates) await subject?.profile?.(round)
}

async function runRounds(bench: string, candidates: readonly Candidate[]): Promise<Map<string, Figures[]>> {
  const results = new Map<string, Figures[]>(candidates.map(({ name }) => [name, []]))
  for (let round = 0; round <= countedRounds; round += 1) {
    for (const candidate of candidates) {
      const figures = await candidate.round()
      if (round === 0) continue
      results.get(candidate.name)?.push(figures)
      console.log(JSON.stringify({ bench, candidate: candidate.name, round, ...figures }))
    }
  }
  return results
}

function mediansOf(rounds: readonly Figures[]): Figures {
  const names = new Set(rounds.flatMap((figures) => Object.keys(figures)))
  return Object.fromEntries([...names].map((name) => [name, percentile(valuesOf(rounds, name), 0.5)]))
}

/** The spread of the first measure, or of its column at 0 ms provider latency if that is larger. */
function spreadOf({ measures }: Comparison, rounds: readonly Figures[]): number {
  const deciding = measures.filter(({ name }) => name === measures[0].name || name === `${measures[0].name}At0`)
  const spreads = deciding.map(({ name }) => {
    const values = valuesOf(rounds, name)
    return (Math.max(...values) - Math.min(...values)) / (percentile(values, 0.5) || 1)
  })
  return Math.max(0, ...spreads)
}

function isAboveLimit({ measures, control, others, limit }: Comparison, medians: Record<string, Figures>): boolean {
  if (limit === undefined) return false
  const [{ name: measure }] = measures
  const base = medians[control.name]?.[measure] ?? 0
  const above = others.filter(({ name }) => (medians[name]?.[measure] ?? 0) > limit * base)
  for (const { name } of above) console.log(`${name}: above the limit of ${limit}x`)
  return above.length > 0
}

function valuesOf(rounds: readonly Figures[], name: string): number[] {
  return rounds.flatMap((figures) => figures[name] ?? [])
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function comparisonRows({ measures, control }: Comparison, medians: Record<string, Figures>): string[][] {
  const head = measures.flatMap(({ title, isCompared }) => (isCompared ? [title, 'ratio'] : [title]))
  const rows = Object.entries(medians).map(([name, figures]) => [
    name,
    ...measures.flatMap((measure) => {
      const mine = figures[measure.name]
      const shown = mine === undefined ? '-' : mine.toFixed(measure.digits)
      return measure.isCompared ? [shown, ratio(mine, medians[control.name]?.[measure.name])] : [shown]
    }),
  ])
  return [['', ...head], ...rows]
}

function ratio(mine: number | undefined, base: number | undefined): string {
  return !base || mine === undefined ? '-' : `${(mine / base).toFixed(2)}x`
}
