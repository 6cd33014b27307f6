/** An arm against the baseline, over the rows with a result in both. */
import type { PassRate, ReportRow } from '@stet/contract/vocabulary'
import { wilsonInterval } from '../../../shared/wilson.ts'
import type { VerdictRow } from '../ports.ts'
import type { PairedCounts } from '../statistics/paired-difference.ts'
import type { RowResults } from './outcomes.ts'

/** A row with this tag may never break. */
const mustTag = 'must'

export interface Comparison extends PairedCounts {
  notPaired: number
  rows: { broke: ReportRow[]; fixed: ReportRow[] }
  brokeMust: number
  passRates: { baseline: PassRate; arm: PassRate }
}

/** Rows with the tag `must` come first. */
export function compareArms(rows: readonly VerdictRow[], results: RowResults, arm: number): Comparison {
  const broke: ReportRow[] = []
  const fixed: ReportRow[] = []
  const passed = { baseline: 0, arm: 0 }
  let paired = 0
  for (const [place, row] of rows.entries()) {
    const before = results[0]?.[place]
    const after = results[arm]?.[place]
    if (before === undefined || after === undefined) continue
    paired += 1
    passed.baseline += Number(before)
    passed.arm += Number(after)
    if (before !== after) (before ? broke : fixed).push(reportRow(row))
  }
  return {
    broke: broke.length,
    brokeMust: broke.filter(({ must }) => must).length,
    fixed: fixed.length,
    same: paired - broke.length - fixed.length,
    notPaired: rows.length - paired,
    rows: { broke: mustFirst(broke), fixed: mustFirst(fixed) },
    passRates: { baseline: passRate(passed.baseline, paired), arm: passRate(passed.arm, paired) },
  }
}

/** The pass rate of one arm over all rows with a result in it. */
export function passRateOf(results: RowResults, arm: number): PassRate {
  const scored = (results[arm] ?? []).filter((hasPassed) => hasPassed !== undefined)
  return passRate(scored.filter(Boolean).length, scored.length)
}

function passRate(passed: number, rows: number): PassRate {
  const { low, high } = wilsonInterval(passed, rows) ?? { low: 0, high: 1 }
  return { passed, rows, rate: rows === 0 ? null : passed / rows, low, high }
}

function reportRow({ exampleUuid, name, tags }: VerdictRow): ReportRow {
  return { exampleUuid, name, tags, must: tags.includes(mustTag) }
}

function mustFirst(rows: readonly ReportRow[]): ReportRow[] {
  return [...rows.filter(({ must }) => must), ...rows.filter(({ must }) => !must)]
}
