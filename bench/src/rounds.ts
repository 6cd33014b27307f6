/** Rounds of all subjects in turn (A B C A B C …), the first discarded; medians and ratios against the control. */
import { describeMachine } from './machine.ts'

export interface Figures {
  /** Milliseconds of CPU per unit of work (request, chunk). */
  cpuMsPerUnit: number
  unitsPerSecond: number
  p50Ms: number
  p99Ms: number
}

export interface Candidate {
  name: string
  round(): Promise<Figures>
}

const noiseLimit = 0.15

/** Runs the rounds, prints JSON lines and a table; sets exit code 2 when the control's own rounds differ too much. */
export async function compare(
  bench: string,
  control: Candidate,
  others: readonly Candidate[],
  rounds = 3,
): Promise<void> {
  const candidates = [control, ...others]
  const results = new Map<string, Figures[]>(candidates.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const candidate of candidates) {
      const figures = await candidate.round()
      if (round === 0) continue
      results.get(candidate.name)?.push(figures)
      console.log(JSON.stringify({ bench, candidate: candidate.name, round, ...figures }))
    }
  }
  const base = medians(results.get(control.name) ?? [])
  console.log(JSON.stringify({ bench, ...describeMachine() }))
  console.log(`\n${bench}, medians of ${rounds} interleaved rounds; ratios against ${control.name}`)
  console.log(row('', 'CPU/unit', 'ratio', 'units/s', 'ratio', 'p50 ms', 'p99 ms', 'ratio'))
  for (const { name } of candidates) {
    const mine = medians(results.get(name) ?? [])
    console.log(
      row(
        name,
        `${(mine.cpuMsPerUnit * 1000).toFixed(1)} µs`,
        ratio(mine.cpuMsPerUnit, base.cpuMsPerUnit),
        mine.unitsPerSecond.toFixed(0),
        ratio(mine.unitsPerSecond, base.unitsPerSecond),
        mine.p50Ms.toFixed(2),
        mine.p99Ms.toFixed(2),
        ratio(mine.p99Ms, base.p99Ms),
      ),
    )
  }
  const spread = spreadOf((results.get(control.name) ?? []).map(({ cpuMsPerUnit }) => cpuMsPerUnit))
  if (spread > noiseLimit) {
    console.log(
      `noisy: the control's own rounds differ by ${(spread * 100).toFixed(0)} %, so these figures prove nothing`,
    )
    process.exitCode = 2
  }
}

/** The value below which `share` of the sorted values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function medians(rounds: readonly Figures[]): Figures {
  const median = (pick: (figures: Figures) => number): number => percentile(rounds.map(pick), 0.5)
  return {
    cpuMsPerUnit: median((figures) => figures.cpuMsPerUnit),
    unitsPerSecond: median((figures) => figures.unitsPerSecond),
    p50Ms: median((figures) => figures.p50Ms),
    p99Ms: median((figures) => figures.p99Ms),
  }
}

function spreadOf(values: readonly number[]): number {
  return (Math.max(...values) - Math.min(...values)) / (percentile(values, 0.5) || 1)
}

function ratio(mine: number, base: number): string {
  return base === 0 ? '-' : `${(mine / base).toFixed(2)}x`
}

function row(name: string, ...cells: string[]): string {
  return name.padEnd(28) + cells.map((cell) => cell.padStart(11)).join('')
}
