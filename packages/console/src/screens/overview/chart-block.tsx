import type { StatsFigures } from '@stet/contract/vocabulary'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useId, useMemo, useState } from 'react'
import { stepText } from '../../charts/scale.ts'
import type { SeriesChartProps } from '../../charts/series-chart.tsx'
import type { RunFilter } from '../../runs/run-filter.ts'
import { Button } from '../../ui/button.tsx'
import layout from '../../ui/styles/layout.module.css'
import { Table } from '../../ui/table.tsx'
import type { Measure, MeasureLine } from './measures.ts'
import css from './overview.module.css'
import type { Step } from './steps.ts'

const SeriesChart = lazy(() => import('../../charts/series-chart.tsx'))

interface ChartBlockProps extends Pick<SeriesChartProps, 'at' | 'onAt' | 'onOpen' | 'marks' | 'stepSeconds'> {
  project: string
  measure: Measure
  total: StatsFigures
  steps: readonly Step[]
  /** The runs of a step. */
  filterOf: (step: Step) => RunFilter
}

/** One chart with its figures in words. They are those of the whole range, or of the step that is pointed at. */
export function ChartBlock(props: ChartBlockProps) {
  const { project, measure, total, steps, stepSeconds, at, onAt, onOpen, marks, filterOf } = props
  const [isTable, setTable] = useState(false)
  const id = useId()
  const starts = useMemo(() => steps.map(({ at }) => at), [steps])
  const lines = useMemo(
    () => measure.lines.map((line) => ({ ...line, values: steps.map(({ figures }) => line.pick(figures)) })),
    [measure, steps],
  )
  const step = at === null ? undefined : steps[at]
  const timeOf = (step: Step) => stepText(step.at, stepSeconds)
  const text = (index: number) => {
    const step = steps[index]
    return step ? `${timeOf(step)}: ${inWords(measure.lines, step.figures)}` : ''
  }
  return (
    <section className={layout['stack']} aria-labelledby={id}>
      <header className={css['blockHead']}>
        <h2 id={id}>{measure.name}</h2>
        {step && <span className={layout['faint']}>{timeOf(step)}</span>}
        <Button look="quiet" className={css['toggle']} aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Show as table
        </Button>
      </header>
      <Legend lines={measure.lines} figures={step?.figures ?? total} />
      {isTable ? (
        <StepTable {...{ project, measure, steps, timeOf, filterOf }} />
      ) : (
        <Suspense fallback={<div className={css['waiting']} />}>
          <SeriesChart
            {...{ at, onAt, onOpen, marks, stepSeconds, text, lines }}
            label={`${measure.name}, by time`}
            steps={starts}
            format={measure.format}
          />
        </Suspense>
      )}
      <p className={layout['faint']}>{measure.summary(total, steps, timeOf)}</p>
    </section>
  )
}

/** "Runs 14, Errors 1". */
function inWords(lines: readonly MeasureLine[], figures: StatsFigures): string {
  return lines.map(({ label, text }) => `${label} ${text(figures)}`).join(', ')
}

function Legend({ lines, figures }: { lines: readonly MeasureLine[]; figures: StatsFigures }) {
  return (
    <dl className={css['legend']}>
      {lines.map(({ label, color, look, dash, text }) => (
        <div key={label}>
          <dt>
            <svg width="18" height="10" aria-hidden="true" data-color={color} className={css['swatch']}>
              {look === 'bars' ? (
                <rect x="4" y="1" width="9" height="9" />
              ) : (
                <line x1="0" x2="18" y1="5" y2="5" strokeWidth="2" strokeDasharray={dash?.join(' ')} />
              )}
            </svg>
            {label}
          </dt>
          <dd>{text(figures)}</dd>
        </div>
      ))}
    </dl>
  )
}

interface StepTableProps extends Pick<ChartBlockProps, 'project' | 'measure' | 'steps' | 'filterOf'> {
  timeOf: (step: Step) => string
}

function StepTable({ project, measure, steps, timeOf, filterOf }: StepTableProps) {
  const withRuns = steps.filter(({ figures }) => figures.runs > 0)
  return (
    <Table label={`${measure.name}, by time`} head={['Time', ...measure.lines.map(({ label }) => label)]}>
      {withRuns.map((step) => (
        <tr key={step.at}>
          <td>
            <Link to="/p/$project/runs" params={{ project }} search={filterOf(step)}>
              {timeOf(step)}
            </Link>
          </td>
          {measure.lines.map(({ label, text }) => (
            <td key={label}>{text(step.figures)}</td>
          ))}
        </tr>
      ))}
    </Table>
  )
}
