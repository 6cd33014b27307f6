/** The result of a comparison in sentences, the same in every client. */
import type { ReportPair } from '@stet/contract/vocabulary'

type Compared = Pick<
  ReportPair,
  'broke' | 'brokeMust' | 'fixed' | 'same' | 'notPaired' | 'passRates' | 'difference' | 'power'
>

export function wordsOf(pair: Compared): ReportPair['words'] {
  const { passRates, difference, power } = pair
  const rows = passRates.arm.rows
  if (!difference) return { counts: countsInWords(pair), rates: '', chance: '', power: '' }
  const rates = `${percent(passRates.baseline.rate)} → ${percent(passRates.arm.rate)}`
  const change = `difference ${signed(difference.value)} ${plural(points(difference.value), 'point')}`
  const between = `95 % between ${signed(difference.low)} and ${signed(difference.high)}`
  return {
    counts: countsInWords(pair),
    rates: `${rates}, ${change} (${between})`,
    chance: `With ${rowsInWords(rows)}, a difference below ${points(Math.min(1, difference.halfWidth))} points could be chance.`,
    power: powerInWords(rows, power),
  }
}

export function countsInWords({
  broke,
  brokeMust,
  fixed,
  same,
  notPaired,
}: Pick<Compared, 'broke' | 'brokeMust' | 'fixed' | 'same' | 'notPaired'>): string {
  const must = brokeMust > 0 ? ` (${brokeMust} must)` : ''
  const without = notPaired > 0 ? `, ${notPaired} without a score in both` : ''
  return `${broke} broke${must}, ${fixed} fixed, ${same} same${without}`
}

export function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`
}

function powerInWords(rows: number, power: Compared['power']): string {
  const cases = power.map(({ loss, share }, index) => {
    return `of ${points(loss)} points in ${Math.round(share * 10)} of 10${index === 0 ? ' cases' : ''}`
  })
  const shown = rows === 1 ? '1 row shows' : `${rows} rows show`
  return `${shown} a loss ${cases.join(', ')}. More rows see more.`
}

function rowsInWords(rows: number): string {
  return rows === 1 ? 'this 1 row' : `these ${rows} rows`
}

function points(share: number): number {
  return Math.round(share * 100)
}

/** With a minus sign, which is as wide as the plus sign. */
function signed(share: number): string {
  const value = points(share)
  if (value === 0) return '0'
  return value > 0 ? `+${value}` : `−${-value}`
}

function plural(count: number, noun: string): string {
  return Math.abs(count) === 1 ? noun : `${noun}s`
}
