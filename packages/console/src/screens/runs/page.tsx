import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import { versionsQuery } from '../../app/queries.ts'
import { NoRuns } from '../../runs/output/no-runs.tsx'
import type { RunFilter } from '../../runs/run-filter.ts'
import { Button, join } from '../../ui/button.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { counted, Time } from '../../ui/time.tsx'
import { FilterBar } from './filter-bar.tsx'
import { listOrder } from './list-order.ts'
import { listedRuns, waitingRuns } from './new-runs.ts'
import { newestQuery, pollSize, runsQuery, showNew } from './queries.ts'
import { RunList } from './run-list.tsx'
import css from './runs.module.css'
import { Selection } from './selection.tsx'

const route = getRouteApi('/shell/p/$project/runs')

/** The runs of a project, newest first, with a filter in the address. */
export function RunsPage() {
  const { project } = route.useParams()
  const filter = route.useSearch()
  const navigate = route.useNavigate()
  const projectId = Number(project)
  const setFilter = (next: RunFilter) => void navigate({ search: next, replace: true })
  return (
    <Screen>
      <title>Runs · stet</title>
      <ScreenTitle>Runs</ScreenTitle>
      <FilterBar projectId={projectId} filter={filter} onChange={setFilter} />
      {/* Another filter is another list, with a selection of its own. */}
      <Found key={`${project} ${JSON.stringify(filter)}`} {...{ projectId, filter, setFilter }} />
    </Screen>
  )
}

interface FoundProps {
  projectId: number
  filter: RunFilter
  setFilter: (filter: RunFilter) => void
}

function Found({ projectId, filter, setFilter }: FoundProps) {
  const runs = useInfiniteQuery(runsQuery(projectId, filter))
  const polled = useQuery({ ...newestQuery(projectId, filter), enabled: runs.isSuccess && !filter.to })
  const { data: versions } = useQuery(versionsQuery(projectId))
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const rows = listedRuns(runs.data?.pages ?? [])
  const fresh = runs.data && polled.data ? waitingRuns(rows, polled.data, runs.hasNextPage) : []
  const last = runs.data?.pages.at(-1)
  const uuids = rows.map(({ uuid }) => uuid).join()
  useEffect(() => listOrder.set({ ...listOrder.get(), uuids: uuids.split(',') }), [uuids])
  if (runs.isPending) return <Skeleton lines={8} />
  if (!runs.data)
    return <Failure error={runs.error} what="The runs could not be loaded" onRetry={() => void runs.refetch()} />
  const more = () => void runs.fetchNextPage()
  // A page that is not full says how far the search came. The reader decides whether to continue.
  const mayContinue = runs.hasNextPage && !runs.isFetchingNextPage && !runs.isFetchNextPageError
  return (
    <>
      {fresh.length > 0 && (
        <div className={css['new']}>
          <Button onClick={() => showNew(projectId, filter, fresh)}>
            {fresh.length >= pollSize ? `${pollSize} or more` : fresh.length} new <span aria-hidden="true">↑</span>
          </Button>
        </div>
      )}
      {polled.error && !polled.isFetching && <Failure error={polled.error} what="New runs could not be looked up" />}
      {rows.length > 0 ? (
        <>
          <Selection {...{ projectId, filter, rows, selected }} onSelect={setSelected} />
          <RunList
            {...{ rows, versions, selected }}
            onSelect={setSelected}
            onEnd={() => mayContinue && !last?.scannedTo && more()}
          />
        </>
      ) : (
        !runs.hasNextPage && <Nothing {...{ projectId, filter, setFilter }} />
      )}
      {runs.isFetchNextPageError && (
        <Failure error={runs.error} what="The earlier runs could not be loaded" onRetry={more} />
      )}
      <p className={join(layout['row'], layout['head'], layout['faint'])} role="status">
        {runs.hasNextPage && last?.scannedTo ? (
          <>
            Searched back to <Time at={last.scannedTo} />
            <Button busy={runs.isFetchingNextPage} onClick={more}>
              Continue
            </Button>
          </>
        ) : (
          rows.length > 0 && !runs.hasNextPage && `${counted(rows.length, 'run')}, all there are`
        )}
      </p>
    </>
  )
}

function Nothing({ projectId, filter, setFilter }: FoundProps) {
  if (Object.keys(filter).length > 0)
    return (
      <Empty line="No run matches all of these filters.">
        <p>
          Remove one of the filters above, or <Button onClick={() => setFilter({})}>show all runs</Button>
        </p>
      </Empty>
    )
  return <NoRuns projectId={projectId} line="Nothing has run in this project yet, apart from experiments." />
}
