/**
 * `PAIRED=1` with `BASELINE` runs the two builds of stet alone, in turn, and compares the rounds of each pair.
 * Slow drift of the machine affects both, so enough rounds show differences of a few percent.
 */
import type { Candidate, Figures } from './rounds.ts'

const baseline = 'stet (baseline)'

/** The two candidates that are compared, or undefined without `PAIRED`. */
export function pairOf(candidates: readonly Candidate[]): [Candidate, Candidate] | undefined {
  if (process.env['PAIRED'] === undefined) return undefined
  const [before, now] = [baseline, 'stet'].map((wanted) => candidates.find(({ name }) => name === wanted))
  if (!before || !now) throw new Error('PAIRED needs BASELINE, and a bench that measures it')
  return [before, now]
}

/** Prints the median ratio of each measure, with an interval that contains the true median in 95 % of such series. */
export async function comparePairs(
  bench: string,
  [before, now]: [Candidate, Candidate],
  rounds: number,
): Promise<void> {
  const ratios = new Map<string, number[]>()
  for (let round = 0; round <= rounds; round += 1) {
    // The order changes from round to round, so that being second favors neither.
    const [first, second] = round % 2 === 0 ? [before, now] : [now, before]
    const figures = new Map<Candidate, Figures>([
      [first, await first.round()],
      [second, await second.round()],
    ])
    if (round === 0) continue
    const [old, current] = [figures.get(before) ?? {}, figures.get(now) ?? {}]
    for (const [name, value] of Object.entries(current))
      if (old[name]) ratios.set(name, [...(ratios.get(name) ?? []), value / old[name]])
  }
  for (const [name, values] of ratios) console.log(`${bench}, ${name}: ${intervalText(values)} of the baseline`)
}

/** "1.012x (0.998 to 1.021, 24 rounds)". The ranks of the interval follow from the binomial distribution. */
function intervalText(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b)
  const count = sorted.length
  const rank = Math.max(0, Math.floor((count - 1.96 * Math.sqrt(count)) / 2) - 1)
  const [low, median, high] = [rank, Math.floor(count / 2), count - 1 - rank].map((at) => sorted[at]?.toFixed(3))
  return `${median}x (${low} to ${high}, ${count} rounds)`
}
