/** The figures of many runs, as screens write them. Pure. */
import type { StatsFigures } from '@stet/contract/vocabulary'
import type { Stats } from '@stet/sdk'
import { noFigure } from '../runs/run-figures.ts'
import { costText, durationText } from '../ui/time.tsx'

/** "≈" before tokens and costs of which a part is estimated. */
export function estimatedText(text: string, { estimated }: Pick<StatsFigures, 'estimated'>): string {
  return estimated > 0 ? `≈ ${text}` : text
}

/** "$1.20", "≈ $1.20", "no price"; "–" without runs. */
export function costOf(figures: Pick<StatsFigures, 'runs' | 'cost' | 'estimated'>): string {
  if (figures.runs === 0) return noFigure
  return figures.cost === null ? costText(null) : estimatedText(costText(figures.cost), figures)
}

/** "1.2 s", or "–" if no run has one. */
export function timeOf(ms: number | null): string {
  return ms === null ? noFigure : durationText(ms)
}

export type Spend = Pick<StatsFigures, 'runs' | 'unpriced' | 'estimated' | 'cost'>

/** The cost of the runs of the newest days. Days are those of UTC, and the one of `asOf` is the first. */
export function spendOf({ asOf, total }: Pick<Stats, 'asOf' | 'total'>, days: number): Spend {
  const today = Math.floor(Date.parse(asOf) / dayMs)
  const found = total.points.filter(({ at }) => Date.parse(at) / dayMs > today - days)
  return found.reduce<Spend>(
    (sum, { figures }) => ({
      runs: sum.runs + figures.runs,
      unpriced: sum.unpriced + figures.unpriced,
      estimated: sum.estimated + figures.estimated,
      // A day without a known price adds nothing, and does not hide the others.
      cost: figures.cost === null ? sum.cost : (sum.cost ?? 0) + figures.cost,
    }),
    { runs: 0, unpriced: 0, estimated: 0, cost: null },
  )
}

const dayMs = 86_400_000
