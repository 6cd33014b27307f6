import type { StatsFigures } from '@stet/contract/vocabulary'
import type { Stats } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { costOf, timeOf } from '../../charts/figures.ts'
import { changeOf, changeText } from '../../runs/run-figures.ts'
import type { RunFilter } from '../../runs/run-filter.ts'
import { withSigns } from '../../ui/hidden-characters.ts'
import layout from '../../ui/styles/layout.module.css'
import { linkTabs, Table } from '../../ui/table.tsx'
import { countText } from '../../ui/time.tsx'
import css from './overview.module.css'
import { type GroupName, groupNames, rangeOf } from './ranges.ts'
import { lengthRatio } from './steps.ts'

interface BreakdownProps {
  project: string
  by: GroupName
  range: string
  stats: Stats
  /** The range before. Undefined while it is loading. */
  earlier: Stats | undefined
  /** The runs of the range. */
  filter: RunFilter
}

const names = { prompt: 'Prompt', version: 'Version', model: 'Model' }
const columns: readonly {
  name: 'runs' | 'errors' | 'cost' | 'durationP95' | 'firstTokenP95'
  head: string
  text: (figures: StatsFigures) => string
  /** A time does not grow with the length of the range. */
  isOfTime?: boolean
}[] = [
  { name: 'runs', head: 'Runs', text: ({ runs }) => countText(runs) },
  { name: 'errors', head: 'Errors', text: ({ errors }) => countText(errors) },
  { name: 'cost', head: 'Cost', text: costOf },
  { name: 'durationP95', head: 'Duration p95', text: ({ durationP95 }) => timeOf(durationP95), isOfTime: true },
  {
    name: 'firstTokenP95',
    head: 'First token p95',
    text: ({ firstTokenP95 }) => timeOf(firstTokenP95),
    isOfTime: true,
  },
]
const filterNames = { prompt: 'documentUuid', version: 'versionUuid', model: 'model' } as const

/** The figures by prompt, version or model, with what changed against the range before. */
export function Breakdown({ project, by, range, stats, earlier, filter }: BreakdownProps) {
  const rows = [...stats.series, ...(stats.other ? [{ ...stats.other, key: undefined, label: 'Others' }] : [])]
  return (
    <section className={layout['stack']} aria-label={`By ${by}`}>
      <nav aria-label="Rows" className={linkTabs.list}>
        {groupNames.map((name) => (
          <Link
            key={name}
            to="."
            search={(search) => ({ ...search, by: name })}
            replace
            className={linkTabs.link}
            aria-current={name === by ? 'true' : undefined}
          >
            By {name}
          </Link>
        ))}
      </nav>
      <Table label={`Figures by ${by}`} head={[names[by], ...columns.map(({ head }) => head)]}>
        <FigureRow figures={stats.total.figures} before={earlier?.total.figures} {...{ stats, earlier }}>
          All
        </FigureRow>
        {rows.map(({ key, label, figures }) => (
          <FigureRow
            key={key ?? label}
            {...{ figures, stats, earlier }}
            before={key === undefined ? undefined : earlierOf(earlier, key)}
          >
            {typeof key === 'string' ? (
              <Link to="/p/$project/runs" params={{ project }} search={{ ...filter, [filterNames[by]]: key }}>
                {withSigns(label)}
              </Link>
            ) : (
              withSigns(label)
            )}
          </FigureRow>
        ))}
      </Table>
      <p className={layout['faint']}>
        Changes compare {rangeOf(range).words} with the same time before; counts and costs per hour. Percentiles are
        approximate.
      </p>
    </section>
  )
}

/** Undefined if the row may be one of the others of that range, or if it had no run in it. */
function earlierOf(earlier: Stats | undefined, key: string | null): Partial<StatsFigures> | undefined {
  const found = earlier?.series.find((series) => series.key === key)
  if (found) return found.figures
  return earlier && !earlier.other ? { runs: 0, errors: 0, cost: 0 } : undefined
}

interface FigureRowProps extends Pick<BreakdownProps, 'stats' | 'earlier'> {
  figures: StatsFigures
  before: Partial<StatsFigures> | undefined
  children: ReactNode
}

function FigureRow({ figures, before, stats, earlier, children }: FigureRowProps) {
  const ratio = earlier ? lengthRatio(stats, earlier) : 1
  return (
    <tr>
      <td>{children}</td>
      {columns.map(({ name, text, isOfTime }) => (
        <td key={name}>
          {text(figures)}{' '}
          <span className={css['change']}>
            {changeText(changeOf(figures[name], before?.[name] ?? null, isOfTime ? 1 : ratio))}
          </span>
        </td>
      ))}
    </tr>
  )
}
