/** The lines of each chart, and their figures in words. Pure. */
import type { StatsFigures } from '@stet/contract/vocabulary'
import { costOf, estimatedText, timeOf } from '../../charts/figures.ts'
import type { ChartLine } from '../../charts/series-chart.tsx'
import { noFigure } from '../../runs/run-figures.ts'
import { counted, countText, durationText } from '../../ui/time.tsx'
import type { Step } from './steps.ts'

export interface MeasureLine extends Omit<ChartLine, 'values'> {
  pick: (figures: StatsFigures) => number | null
  /** The figure in words. */
  text: (figures: StatsFigures) => string
}

export interface Measure {
  name: string
  lines: readonly MeasureLine[]
  /** Writes a value at the axis. */
  format: (value: number) => string
  /** The figures of the whole range in one sentence. */
  summary: (total: StatsFigures, steps: readonly Step[], timeOf: (step: Step) => string) => string
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

const countLine = (label: string, color: MeasureLine['color'], name: 'runs' | 'errors'): MeasureLine => ({
  ...{ label, color, look: 'bars' },
  pick: (figures) => figures[name],
  text: (figures) => countText(figures[name]),
})

const tokenLine = (
  label: string,
  color: MeasureLine['color'],
  name: 'inputTokens' | 'cachedInputTokens' | 'outputTokens',
): MeasureLine => ({
  ...{ label, color, look: 'line' },
  pick: (figures) => figures[name],
  text: (figures) => (figures.runs === 0 ? noFigure : estimatedText(countText(figures[name]), figures)),
})

function percentiles(
  of: string,
  [half, most]: readonly ['durationP50' | 'firstTokenP50', 'durationP95' | 'firstTokenP95'],
) {
  const line = (label: string, name: typeof half | typeof most) => ({
    label,
    look: 'line' as const,
    pick: (figures: StatsFigures) => figures[name],
    text: (figures: StatsFigures) => timeOf(figures[name]),
  })
  return {
    lines: [
      { ...line('p50', half), color: 'blue' },
      { ...line('p95', most), color: 'amber', dash: [7, 4] },
    ],
    format: durationText,
    summary: (total: StatsFigures) =>
      total[half] === null
        ? `No run ${of} in this time.`
        : `Half of the runs ${of} within ${timeOf(total[half])}, 95% within ${timeOf(total[most])} (approximate).`,
  } satisfies Omit<Measure, 'name'>
}

export const measures: readonly Measure[] = [
  {
    name: 'Runs',
    lines: [countLine('Runs', 'blue', 'runs'), countLine('Errors', 'red', 'errors')],
    format: (value) => (Number.isInteger(value) ? compact.format(value) : ''),
    summary({ runs, errors, stopped }, steps, timeOf) {
      const busiest = steps.reduce((most, step) => (step.figures.runs > most.figures.runs ? step : most))
      const share = runs > 0 && errors > 0 ? ` (${percent.format(errors / runs)})` : ''
      const stops = stopped > 0 ? `, ${countText(stopped)} stopped` : ''
      return `${counted(runs, 'run')}, ${counted(errors, 'error')}${share}${stops}; most on ${timeOf(busiest)} with ${countText(busiest.figures.runs)}.`
    },
  },
  {
    name: 'Cost',
    lines: [{ label: 'Cost', color: 'blue', look: 'bars', pick: ({ cost }) => cost, text: costOf }],
    format: (value) => `$${Number(value.toPrecision(3))}`,
    summary(total) {
      if (total.cost === null) return 'No run of this time has a known price.'
      const without = total.unpriced > 0 ? `, without ${counted(total.unpriced, 'run')} that have no known price` : ''
      return `${costOf(total)} in total${without}.`
    },
  },
  { name: 'Duration', ...percentiles('ended', ['durationP50', 'durationP95']) },
  { name: 'First token', ...percentiles('with a stream had their first token', ['firstTokenP50', 'firstTokenP95']) },
  {
    name: 'Tokens',
    lines: [
      tokenLine('In', 'blue', 'inputTokens'),
      { ...tokenLine('Cached', 'amber', 'cachedInputTokens'), dash: [2, 3] },
      { ...tokenLine('Out', 'green', 'outputTokens'), dash: [7, 4] },
    ],
    format: (value) => compact.format(value),
    summary: (total) =>
      `${estimatedText(countText(total.inputTokens), total)} tokens in, ${countText(total.cachedInputTokens)} of them from a cache, and ${estimatedText(countText(total.outputTokens), total)} out.`,
  },
]
