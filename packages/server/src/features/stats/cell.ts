/** Sums of runs. A cell is a list of numbers, because a day of a project is stored with hundreds of them. */
import type { StatsFigures } from '@stet/contract/vocabulary'

/** The order of the sums in a cell. */
const sums = [
  'runs',
  'errors',
  'stopped',
  'unpriced',
  'estimated',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'costNano',
] as const

/**
 * The number of runs by bin. Bin 0 is below 50 ms, each further bin ends at √2 times the end of the one before, and bin 29
 * has everything from 819.2 s on.
 */
export type Histogram = Readonly<Record<number, number>>

/** The sums in the order of `sums`, then the histograms of the duration and of the time to the first text. */
export type Cell = readonly [counts: readonly number[], durations: Histogram, firstTokens: Histogram]

export const firstBinMs = 50
export const lastBin = 29
const nanoPerUsd = 1e9

/** Adds in place: a copy for each cell would take most of the time of an answer. */
export function sumOf(cells: Iterable<Cell>): Cell {
  const counts = sums.map(() => 0)
  const durations = new Array<number>(lastBin + 1).fill(0)
  const firstTokens = new Array<number>(lastBin + 1).fill(0)
  for (const cell of cells) {
    add(counts, cell[0])
    add(durations, cell[1])
    add(firstTokens, cell[2])
  }
  return [counts, durations, firstTokens]
}

/** The names of the bins of an object would be texts, which take ten times as long as numbers. */
function add(total: number[], numbers: Readonly<Record<number, number>>): void {
  for (let at = 0; at < total.length; at += 1) total[at] = (total[at] ?? 0) + (numbers[at] ?? 0)
}

/** Without a price, the cost is unknown: null if no run of the cell has one. */
export function figuresOf([counts, durations, firstTokens]: Cell): StatsFigures {
  const { costNano, ...rest } = Object.fromEntries(sums.map((name, at) => [name, counts[at] ?? 0])) as Record<
    (typeof sums)[number],
    number
  >
  const isUnknown = rest.runs > 0 && rest.unpriced === rest.runs
  return {
    ...rest,
    cost: isUnknown ? null : costNano / nanoPerUsd,
    durationP50: percentile(durations, 0.5),
    durationP95: percentile(durations, 0.95),
    firstTokenP50: percentile(firstTokens, 0.5),
    firstTokenP95: percentile(firstTokens, 0.95),
  }
}

/** Interpolates within the bin, in ms. Null without runs. */
function percentile(bins: Histogram, share: number): number | null {
  const counts = Array.from({ length: lastBin + 1 }, (_, bin) => bins[bin] ?? 0)
  const total = counts.reduce((sum, runs) => sum + runs, 0)
  if (total === 0) return null
  let below = 0
  for (const [bin, runs] of counts.entries()) {
    if (runs > 0 && below + runs >= share * total) {
      const within = (share * total - below) / runs
      const from = bin === 0 ? 0 : startMs(bin)
      // The last bin has no end, so its start is the best figure.
      return Math.round(bin === lastBin ? from : from + (startMs(bin + 1) - from) * within)
    }
    below += runs
  }
  return null
}

const startMs = (bin: number) => firstBinMs * 2 ** ((bin - 1) / 2)
