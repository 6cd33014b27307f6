/** The steps of a range with their figures. Pure. */
import type { StatsFigures } from '@stet/contract/vocabulary'
import type { Stats } from '@stet/sdk'

export interface Step {
  /** Its start, in milliseconds. */
  at: number
  figures: StatsFigures
}

const noRuns: StatsFigures = {
  ...{ runs: 0, errors: 0, stopped: 0, unpriced: 0, estimated: 0, cost: 0 },
  ...{ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  ...{ durationP50: null, durationP95: null, firstTokenP50: null, firstTokenP95: null },
}

/** All steps until now, also those without runs, which the server leaves out. */
export function stepsOf({ from, asOf, stepSeconds, total }: Stats): Step[] {
  const known = new Map(total.points.map(({ at, figures }) => [Date.parse(at), figures]))
  const [first, end] = [Date.parse(from), Date.parse(asOf)]
  const count = Math.max(1, Math.ceil((end - first) / (stepSeconds * 1000)))
  return Array.from({ length: count }, (_, index) => {
    const at = first + index * stepSeconds * 1000
    return { at, figures: known.get(at) ?? noRuns }
  })
}

/** By what counts of the earlier range are multiplied: it is whole, and this one ends within a step. */
export function lengthRatio(now: Stats, before: Stats): number {
  const elapsed = Date.parse(now.asOf) - Date.parse(now.from)
  return elapsed / (Date.parse(before.to) - Date.parse(before.from))
}
