import type { Stats } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { secondText, stepText } from '../../charts/scale.ts'
import { FailedRuns } from '../../runs/failed-runs.tsx'
import { NoRuns } from '../../runs/output/no-runs.tsx'
import type { RunFilter } from '../../runs/run-filter.ts'
import { join } from '../../ui/button.tsx'
import { CheckField } from '../../ui/field.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { linkTabs } from '../../ui/table.tsx'
import { counted } from '../../ui/time.tsx'
import { Breakdown } from './breakdown.tsx'
import { ChartBlock } from './chart-block.tsx'
import { CustomRange } from './custom-range.tsx'
import { measures } from './measures.ts'
import css from './overview.module.css'
import { earlierStatsQuery, latestErrorsQuery, type StatsPlace, statsQuery } from './queries.ts'
import { rangeNames, rangeOf, ranges } from './ranges.ts'
import { stepsOf } from './steps.ts'

const route = getRouteApi('/shell/p/$project/overview')

/** How often the prompts of a project ran, how fast, and at what cost. */
export function OverviewPage() {
  const { project } = route.useParams()
  const { range = '24h', by = 'prompt', via = 'api' } = route.useSearch()
  return <Overview key={project} place={{ projectId: Number(project), range, by, via }} />
}

function Overview({ place }: { place: StatsPlace }) {
  const { projectId, range, via } = place
  const { data: stats, error, refetch, isPlaceholderData } = useQuery(statsQuery(place))
  const earlier = useQuery(earlierStatsQuery(place, isPlaceholderData ? undefined : stats))
  const navigate = route.useNavigate()
  return (
    <Screen>
      <title>Overview · stet</title>
      <ScreenTitle beside={stats && <AsOf stats={stats} />}>Overview</ScreenTitle>
      <div className={join(layout['row'], css['choices'])}>
        <nav aria-label="Range" className={linkTabs.list}>
          {rangeNames.map((name) => (
            <Link
              key={name}
              to="."
              search={(search) => ({ ...search, range: name })}
              replace
              className={linkTabs.link}
              aria-current={name === range ? 'true' : undefined}
            >
              {ranges[name].name}
            </Link>
          ))}
          <CustomRange stats={stats} isShown={!rangeNames.some((name) => name === range)} />
        </nav>
        <CheckField
          label="Also count runs from the console"
          checked={via === 'all'}
          onChange={({ target }) =>
            navigate({
              search: ({ via: _, ...rest }) => (target.checked ? { ...rest, via: 'all' } : rest),
              replace: true,
            })
          }
        />
      </div>
      {error && <Failure error={error} what="The figures could not be loaded" onRetry={refetch} />}
      {!stats && !error && <Skeleton lines={6} />}
      {stats &&
        (stats.total.figures.runs === 0 ? (
          <NoRuns projectId={projectId} line={`No prompt ran in ${rangeOf(range).words}.`} />
        ) : (
          <div className={join(layout['far'], css['body'])} aria-busy={isPlaceholderData || undefined}>
            <Charts project={String(projectId)} stats={stats} via={via} />
            <Published project={String(projectId)} stats={stats} />
            {stats.total.figures.errors > 0 && (
              <LatestErrors place={place} filter={filterOf(via, stats.from, stats.asOf)} />
            )}
            <Breakdown
              {...{ stats, range, by: place.by }}
              project={String(projectId)}
              earlier={isPlaceholderData ? undefined : earlier.data}
              filter={filterOf(via, stats.from, stats.asOf)}
            />
          </div>
        ))}
    </Screen>
  )
}

function AsOf({ stats: { asOf, running } }: { stats: Stats }) {
  return (
    <p className={layout['faint']}>
      {running > 0 && `${counted(running, 'run')} active · `}as of <time dateTime={asOf}>{secondText(asOf)}</time>
    </p>
  )
}

/** The filter of the list of runs that begin in a time. */
function filterOf(via: StatsPlace['via'], from: string | number, to: string | number): RunFilter {
  const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return via === 'api' ? { ...times, via } : times
}

/** All charts point at the same step. */
function Charts({ project, stats, via }: { project: string; stats: Stats; via: StatsPlace['via'] }) {
  const [at, setAt] = useState<number | null>(null)
  const navigate = route.useNavigate()
  const { from, total, stepSeconds } = stats
  const count = stepsOf(stats).length
  // The other figures of the answer change with each poll, and need no new drawing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `count` is all that the steps take from the time of the answer
  const steps = useMemo(() => stepsOf(stats), [from, total, stepSeconds, count])
  const marks = useMemo(
    () =>
      stats.marks.map(({ at, version }) => ({ at: Date.parse(at), label: `v${version}` })).sort((a, b) => a.at - b.at),
    [stats.marks],
  )
  const filterOfStep = ({ at }: { at: number }) => filterOf(via, at, at + stepSeconds * 1000)
  const open = (index: number) => {
    const step = steps[index]
    if (step) void navigate({ to: '/p/$project/runs', params: { project }, search: filterOfStep(step) })
  }
  return (
    <div className={css['charts']}>
      {measures.map((measure) => (
        <ChartBlock
          key={measure.name}
          {...{ project, measure, steps, stepSeconds, marks }}
          at={at === null || at >= steps.length ? null : at}
          onAt={setAt}
          onOpen={open}
          total={total.figures}
          filterOf={filterOfStep}
        />
      ))}
    </div>
  )
}

/** Why the newest failed runs failed. The list is by the start of the runs, the figures by their end. */
function LatestErrors({ place, filter }: { place: StatsPlace; filter: RunFilter }) {
  const { data = [], error, refetch } = useQuery(latestErrorsQuery(place))
  if (error) return <Failure error={error} what="The latest errors could not be loaded" onRetry={refetch} />
  if (data.length === 0) return null
  return (
    <section className={layout['stack']} aria-label="Latest errors">
      <div className={css['blockHead']}>
        <h2>Latest errors</h2>
        <Link
          to="/p/$project/runs"
          params={{ project: String(place.projectId) }}
          search={{ ...filter, status: 'error' }}
          className={css['toggle']}
        >
          All failed runs
        </Link>
      </div>
      <FailedRuns runs={data} />
    </section>
  )
}

const mostNamed = 5

/** The publications of the range, which the charts mark. */
function Published({ project, stats: { marks, stepSeconds } }: { project: string; stats: Stats }) {
  if (marks.length === 0) return null
  return (
    <p className={layout['faint']}>
      Published in this time:{' '}
      {marks.slice(0, mostNamed).map(({ at, versionUuid, version, title }, index) => (
        <span key={at + versionUuid}>
          {index > 0 && ', '}
          <Link to="/p/$project/history/$entry" params={{ project, entry: versionUuid }} title={withSigns(title)}>
            v{version}
          </Link>{' '}
          ({stepText(Date.parse(at), Math.min(stepSeconds, 3600))})
        </span>
      ))}
      {marks.length > mostNamed && ` and ${marks.length - mostNamed} more`}
    </p>
  )
}
