/** Cost, time and missing scores of each arm. */
import type { ArmFigures } from '@stet/contract/vocabulary'
import type { VerdictItem, Verdicts } from '../ports.ts'
import { type Judgment, outcomeOf } from './outcomes.ts'

export function armFigures({ arms, items }: Verdicts, judgment: Judgment): ArmFigures[] {
  const byArm = Array.from({ length: arms }, (): VerdictItem[] => [])
  for (const item of items) byArm[item.arm]?.push(item)
  const costs = byArm.map((own) => rowMeans(own, 'costUsd'))
  const durations = byArm.map((own) => rowMeans(own, 'durationMs'))
  return byArm.map((own, arm): ArmFigures => {
    const known = valuesOf(own, 'costUsd')
    const times = valuesOf(own, 'durationMs').sort((a, b) => a - b)
    const codes = unscoredCodes(own, judgment)
    return {
      arm,
      ended: own.filter(({ outcome }) => outcome === 'ended').length,
      failed: own.filter(({ outcome }) => outcome === 'failed').length,
      scored: own.length - sum([...codes.values()]),
      unscored: [...codes].sort(([, a], [, b]) => b - a).map(([code, count]) => ({ code, count })),
      costUsd: known.length === 0 ? null : sum(known),
      costRatio: arm === 0 ? null : medianRatio(costs[0], costs[arm]),
      durationMs: sum(times),
      durationRatio: arm === 0 ? null : medianRatio(durations[0], durations[arm]),
      p50Ms: quantile(times, 0.5),
      p95Ms: quantile(times, 0.95),
    }
  })
}

function unscoredCodes(items: readonly VerdictItem[], judgment: Judgment): Map<string, number> {
  const codes = new Map<string, number>()
  for (const item of items) {
    const { code } = outcomeOf(item, judgment)
    if (code !== undefined) codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  return codes
}

type Figure = 'costUsd' | 'durationMs'

function valuesOf(items: readonly VerdictItem[], figure: Figure): number[] {
  return items.flatMap((item) => item[figure] ?? [])
}

/** The mean over the trials of each row, because a row counts once. */
function rowMeans(items: readonly VerdictItem[], figure: Figure): Map<string, number> {
  const sums = new Map<string, { total: number; count: number }>()
  for (const { exampleUuid, [figure]: value } of items) {
    if (value === undefined) continue
    const { total, count } = sums.get(exampleUuid) ?? { total: 0, count: 0 }
    sums.set(exampleUuid, { total: total + value, count: count + 1 })
  }
  return new Map([...sums].map(([uuid, { total, count }]) => [uuid, total / count]))
}

function medianRatio(baseline?: Map<string, number>, arm?: Map<string, number>): number | null {
  const ratios = [...(arm ?? [])].flatMap(([uuid, value]) => {
    const before = baseline?.get(uuid)
    // An answer that costs something where the baseline's is free is infinitely dearer.
    return before === undefined ? [] : before === value ? 1 : value / before
  })
  const sorted = ratios.sort((a, b) => a - b)
  const [lower, upper] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return lower === undefined || upper === undefined ? null : (lower + upper) / 2
}

/** The nearest rank of sorted values. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
